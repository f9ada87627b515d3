"""Which way a call goes: a rule, compiled code, a derived function, or an error."""
