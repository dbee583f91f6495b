"""Who answers: the provider protocol and its adapters. Adapters are imported by name when used."""
