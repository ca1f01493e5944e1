"""The verbs that test rankings against random ranking."""
