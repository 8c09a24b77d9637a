"""The parts of JSON Schema that the document at /openapi.json uses."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


KNOWN = {"type", "properties", "required", "additionalProperties", "items", "enum", "oneOf", "minimum", "maximum",
    "maxLength", "minItems", "maxItems", "description", "$ref"}


def faults(value, schema, document, where="$"):
    """Returns what is wrong with a value, one line each."""
    assert set(schema) <= KNOWN, f"{where}: the checker does not know {set(schema) - KNOWN}"
    if "$ref" in schema:
        place = document
        for key in schema["$ref"].removeprefix("#/").split("/"):
            place = place[key]
        return faults(value, place, document, where)
    found = []
    if "oneOf" in schema:
        fits = [one for one in schema["oneOf"] if not faults(value, one, document, where)]
        if len(fits) != 1:
            found.append(f"{where}: {len(fits)} of the forms fit")
    if "enum" in schema and not any(value == one and type(value) is type(one) for one in schema["enum"]):
        found.append(f"{where}: {value!r} is none of {schema['enum']}")
    if "type" in schema and not is_type(value, schema["type"]):
        return found + [f"{where}: {value!r} is no {schema['type']}"]
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{where}.{key} is missing" for key in schema.get("required", []) if key not in value]
        for key, one in value.items():
            if key in properties:
                found += faults(one, properties[key], document, f"{where}.{key}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{where}.{key} is not described")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 1 << 60):
            found.append(f"{where}: {len(value)} items")
        for i, one in enumerate(value):
            found += faults(one, schema.get("items", {}), document, f"{where}[{i}]")
    if isinstance(value, str) and len(value.encode()) > schema.get("maxLength", 1 << 60):
        found.append(f"{where}: too long")
    if is_type(value, "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append(f"{where}: {value} is out of range")
    return found
