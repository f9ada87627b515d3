"""Regions of user code that run as one tape entry: a typed intermediate representation.

From the syntax tree to IR (`read`), its types (`infer`), what is active in it (`activity`), its
tangent (`tangent`) and both of its sweeps (`adjoint`), which an emitter prints (`emit_scalar`);
`site` runs it.
"""
