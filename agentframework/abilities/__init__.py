"""What a session can do beside its turns. The abilities do not know each other."""
