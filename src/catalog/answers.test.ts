import { describe, expect, test } from "bun:test";
import { checker } from "../schema/index.ts";
import * as answers from "./answers.ts";
import { buildCatalog } from "./build-catalog.ts";
import { Characters } from "./characters.ts";
import { CharactersQuerySchema } from "./characters-query.ts";
import { ServiceParametersEchoSchema, ServiceParametersSchema } from "./service-parameters.ts";
import { data, inputsOf } from "./testing/config.ts";

const schemas = { ...answers, CharactersQuerySchema, ServiceParametersSchema, ServiceParametersEchoSchema };

describe("a schema", () => {
	test.each(Object.entries(schemas))("%s is plain JSON Schema, as an OpenAPI 3.1 document takes it", (_, schema) => {
		const text = JSON.stringify(schema);
		expect(JSON.parse(text)).toMatchObject({ type: "object" });
		expect(text).not.toMatch(/"[~$@]/);
		expect(text.length).toBeGreaterThan(20);
	});

	const catalog = buildCatalog(inputsOf());
	const characters = new Characters(data.characters, catalog);
	const list = (type: string, models: readonly { public: object }[]) => ({
		object: "list",
		type,
		data: models.map((model) => model.public),
	});

	test.each([
		["the model list", answers.ModelListSchema, list("all", catalog.list("all"))],
		["the traits", answers.NameMapSchema, { object: "list", type: "text", data: catalog.traits("text") }],
		[
			"the compatibility names",
			answers.NameMapSchema,
			{ object: "list", type: "tts", data: catalog.compatibilityMapping("tts") },
		],
		["the characters", answers.CharacterListSchema, { object: "list", data: characters.search({}) }],
		["a character", answers.CharacterAnswerSchema, { object: "character", data: characters.get("plain-editor").character }],
	])("describes %s as it is answered", (_, schema, answer) => {
		expect(checker(schema).issues(JSON.parse(JSON.stringify(answer)))).toEqual([]);
	});

	test("of the model query knows the nine types, all and code, and nothing else", () => {
		const query = checker(answers.ModelsQuerySchema);
		for (const type of ["asr", "embedding", "image", "music", "text", "tts", "upscale", "inpaint", "video", "all", "code"])
			expect(query.check({ type })).toBe(true);
		for (const type of ["", "Text", "speech", null, 5]) expect(query.issues({ type })[0]?.path).toEqual(["type"]);
		expect(checker(answers.ModelTypeQuerySchema).check({ type: "all" })).toBe(false);
	});
});
