// Runs last, when all other scripts are loaded.
new ResizeObserver(refresh).observe(ruler);
sortRows();
changed();
