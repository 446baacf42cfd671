// Once all parts are there.
new ResizeObserver(refresh).observe(ruler);
arrange();
changed();
