/** GET /characters and /characters/{slug}: personas for chat. Free. Never shows a character's prompt. */
import { CharacterAnswerSchema, CharacterListSchema, type Characters, CharactersQuerySchema } from "../../catalog/index.ts";
import { type Endpoint, json, plain } from "../../server/endpoint.ts";

const common = { method: "GET", tag: "Characters", openAi: false, callers: ["key", "wallet"], listLimit: true } as const;

export function characterRoutes(characters: () => Characters, now: () => number): Endpoint[] {
	return [
		plain({
			...common,
			path: "/characters",
			name: "characters",
			summary: "List characters",
			query: CharactersQuerySchema,
			answer: { type: "application/json", schema: CharacterListSchema, description: "Characters" },
			run: ({ query }) => json({ object: "list", data: characters().search(query, now()) }),
		}),
		plain({
			...common,
			path: "/characters/:slug",
			name: "character",
			summary: "One character",
			codes: ["CHARACTER_NOT_FOUND"],
			answer: { type: "application/json", schema: CharacterAnswerSchema, description: "The character" },
			run: ({ params }) => json({ object: "character", data: characters().get(params.slug ?? "").character }),
		}),
	];
}
