"""The boundary of a differentiated call: values that enter and leave it."""
