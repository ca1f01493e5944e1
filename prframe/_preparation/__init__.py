"""What tables and pictures of results share; no library that draws is needed here."""
