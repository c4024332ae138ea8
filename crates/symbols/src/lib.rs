//! What addresses of a program mean: functions, lines, variables, fields.
