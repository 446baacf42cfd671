"""What runs experiments: jobs in parallel, stored results, trained models, the results table."""
