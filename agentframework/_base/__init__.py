"""Eight small ideas that every layer may use: ids, clock, bounded text, JSON lines, abort signal, owner, emitter,
pacing.

Closed by a contract test: a new idea needs a home of its own, not a place here.
"""
