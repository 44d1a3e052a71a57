import Type, { type Static, type TSchema } from 'typebox';

/** Schemas by name, for the service to register and OpenAPI to print as components. */
export const COMPONENTS: TSchema[] = [];

/** Gives a schema a name, under which it is registered once and referred to everywhere. */
export function named<Schema extends TSchema>($id: string, schema: Schema): Schema {
  const component = { ...schema, $id } as Schema;
  COMPONENTS.push(component);
  return component;
}

/** A typed reference to a named schema. */
export function ref<Schema extends TSchema>(schema: Schema) {
  const { $id } = schema as unknown as { $id: string };
  return Type.Unsafe<Static<Schema>>({ $ref: `${$id}#` });
}

/** An object that refuses fields it does not know. */
export const strict = <Properties extends Record<string, TSchema>>(properties: Properties, options = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** One of these words. The type is said too: without it AJV holds every item of a list of words against every other. */
export const words = <Words extends string[]>(list: readonly [...Words], options = {}) =>
  Type.Enum(list, { type: 'string', ...options });

/** The parameters of a URL: those that have a default need not be sent, and are there all the same. */
export const withDefaults = <Properties extends Record<string, TSchema>>(properties: Properties) => {
  const object = strict(properties);
  const isOptional = (name: string): boolean =>
    'default' in (properties[name] as object) || !((object.required ?? []) as readonly string[]).includes(name);
  const required = Object.keys(properties).filter((name) => !isOptional(name));
  return Type.Unsafe<Static<typeof object>>({ ...object, required });
};

/** A value of the schema, or null; a reference stays a reference, and a list of words stays without null. */
export const nullable = <Schema extends TSchema>(schema: Schema, description?: string) => {
  const { type, enum: list } = schema as unknown as { type?: string; enum?: string[] };
  const base =
    type === undefined || list !== undefined
      ? { anyOf: [schema, { type: 'null' }] }
      : { ...schema, type: [type, 'null'] };
  return Type.Unsafe<Static<Schema> | null>(description === undefined ? base : { ...base, description });
};
