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

/** A value of the schema, or null; a reference stays a reference. */
export const nullable = <Schema extends TSchema>(schema: Schema, description?: string) => {
  const { type } = schema as unknown as { type?: string };
  const base = type === undefined ? { anyOf: [schema, { type: 'null' }] } : { ...schema, type: [type, 'null'] };
  return Type.Unsafe<Static<Schema> | null>(description === undefined ? base : { ...base, description });
};
