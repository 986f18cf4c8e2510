/**
 * GET /characters, /characters/{slug} and its reviews: personas for chat. Free. A character's prompt is never shown.
 */
import {
	CharacterAnswerSchema,
	CharacterListSchema,
	CharacterReviewListSchema,
	type Characters,
	CharactersQuerySchema,
	ReviewsQuerySchema,
} from "../../catalog/index.ts";
import { type Endpoint, json, plain } from "../../server/endpoint.ts";
import { paginationHeaders } from "../../server/pagination.ts";

const common = { method: "GET", tag: "Characters", openAi: false, callers: ["key", "wallet"], listLimit: true } as const;

export function characterRoutes(characters: () => Characters, wallMs: () => number): Endpoint[] {
	return [
		plain({
			...common,
			path: "/characters",
			name: "characters",
			summary: "List characters",
			query: CharactersQuerySchema,
			answer: { type: "application/json", schema: CharacterListSchema, description: "Characters" },
			run: ({ query }) => json({ object: "list", data: characters().search(query, wallMs()) }),
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
		plain({
			...common,
			path: "/characters/:slug/reviews",
			name: "character-reviews",
			summary: "List the reviews of a character, newest first",
			codes: ["CHARACTER_NOT_FOUND"],
			query: ReviewsQuerySchema,
			answer: {
				type: "application/json",
				schema: CharacterReviewListSchema,
				description: "A page of reviews, with x-pagination-* headers",
			},
			run: ({ params, query }) => {
				const { reviews, character } = characters().get(params.slug ?? "");
				const { page = 1, pageSize = 20 } = query;
				const total = reviews.length;
				const totalPages = Math.ceil(total / pageSize);
				const body = {
					object: "list",
					data: reviews.slice((page - 1) * pageSize, page * pageSize),
					pagination: { page, pageSize, total, totalPages },
					summary: { averageRating: character.stats.averageRating, totalReviews: total },
				};
				return json(body, 200, paginationHeaders({ limit: pageSize, page, total, totalPages }));
			},
		}),
	];
}
