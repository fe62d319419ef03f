// What an OpenAPI document says of requests, as far as a form needs it.

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** operations lists the requests of a document: what each is sent to, its fields, and whether it wants a token. */
export function operations(document) {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.filter((method) => item[method]).map((method) => operationOf(document, path, item, method)));
}

function operationOf(document, path, item, method) {
  const operation = item[method];
  const schemes = (operation.security ?? document.security ?? []).flatMap(Object.keys)
    .map((name) => resolve(document, document.components?.securitySchemes?.[name]));
  const keys = schemes.filter((scheme) => scheme.type === 'apiKey' && scheme.in === 'header');
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((one) => resolve(document, one))
    .filter((one) => ['path', 'query', 'header'].includes(one.in));
  return {
    id: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, summary: operation.summary ?? '',
    // Where a key will do, no token is sent beside it.
    token: schemes.length > 0 && keys.length === 0,
    parameters: [...parameters, ...keys].map((one) => {
      const field = fieldOf(document, one.name, one.schema, one.required);
      return {...field, in: one.in, description: one.description, example: one.example ?? field.example};
    }),
    body: bodyOf(document, operation.requestBody),
  };
}

/** resolve follows references within the document. What is beside a reference counts first. */
function resolve(document, given) {
  let found = given ?? {};
  for (let depth = 0; found.$ref && depth < 20; depth++) {
    const {$ref, ...beside} = found;
    const steps = $ref.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    found = {...steps.reduce((at, step) => at?.[step], document), ...beside};
  }
  return found;
}

const variantsOf = (schema) => schema.oneOf ?? schema.anyOf ?? [];

const choicesOf = (schema) => schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);

function fieldOf(document, name, given, required = false) {
  const schema = resolve(document, given);
  const types = [schema, ...variantsOf(schema).map((one) => resolve(document, one))].flatMap((one) => one.type ?? []);
  const choices = choicesOf(schema);
  return {
    name, required, choices, description: schema.description,
    type: types.find((type) => type !== 'null') ?? (choices ? typeof choices[0] : undefined),
    example: schema.examples?.[0] ?? schema.example ?? schema.default ?? choices?.[0],
  };
}

/** shape returns the properties that an object may have, in any variant of it, and the names that all of them need. */
function shape(document, given) {
  const schema = resolve(document, given);
  const properties = {...schema.properties};
  const required = new Set(schema.required);
  const take = (part) => {
    for (const [name, property] of Object.entries(part.properties)) {
      const choices = [properties[name], property].map((one) => one && choicesOf(one));
      properties[name] = {...property, ...properties[name]};
      if (choices[0] && choices[1]) properties[name].enum = [...new Set(choices.flat())];
    }
  };
  for (const part of (schema.allOf ?? []).map((one) => shape(document, one))) {
    take(part);
    for (const name of part.required) required.add(name);
  }
  const variants = variantsOf(schema).map((one) => shape(document, one));
  variants.forEach(take);
  for (const name of variants[0]?.required ?? []) {
    if (variants.every((one) => one.required.has(name))) required.add(name);
  }
  return {properties, required};
}

function bodyOf(document, given) {
  const content = resolve(document, given).content ?? {};
  const type = content['application/json'] ? 'application/json' : Object.keys(content)[0];
  if (!type) return null;
  const {schema, example, examples} = content[type];
  const {properties, required} = shape(document, schema);
  const fields = Object.entries(properties)
    .map(([name, property]) => fieldOf(document, name, property, required.has(name)))
    .sort((a, b) => b.required - a.required);
  const needed = fields.filter((one) => one.required && one.example !== undefined);
  const first = example ?? resolve(document, Object.values(examples ?? {})[0]).value
    ?? resolve(document, schema).examples?.[0] ?? Object.fromEntries(needed.map((one) => [one.name, one.example]));
  return {type, fields, text: typeof first === 'string' ? first : JSON.stringify(first, null, 2)};
}
