import { ApiError } from "../errors/index.ts";
import type { Catalog } from "./catalog.ts";
import type { CharactersQuery } from "./characters-query.ts";
import type { CharacterData } from "./data-schema.ts";
import type { Character, CharacterReview } from "./types.ts";

/** A character with its hidden members. */
export interface CharacterEntry {
	readonly character: Character;
	/** The system prompt: it precedes the caller's messages, and is never part of an answer. */
	readonly prompt: string;
	readonly categories: readonly string[];
	/** Newest first. */
	readonly reviews: readonly CharacterReview[];
}

const NO_STATS = { averageRating: 0, imports: 0, ratingCount: 0, ratingSum: 0 };
/** A rating counts from this many votes on (docs/models.md). */
const ENOUGH_RATINGS = 5;
const RECENT_MS = 30 * 86_400_000;

type Rank = (entry: CharacterEntry, nowMs: number) => readonly number[];
type SortKey = NonNullable<CharactersQuery["sortBy"]> | "unset";

/** Higher ranks come first; later numbers break ties. */
const RANKS: Readonly<Record<SortKey, Rank>> = {
	unset: ({ character }) => [Number(character.featured), character.stats.imports],
	featured: ({ character }) => [Number(character.featured), character.stats.imports],
	highestRating: ({ character }) => [character.stats.averageRating, character.stats.ratingCount],
	highlyRated: ({ character }) => [Number(isRated(character)), character.stats.averageRating],
	highlyRatedAndRecent: ({ character }, nowMs) => [
		Number(isRated(character)),
		Number(nowMs - Date.parse(character.createdAt) <= RECENT_MS),
		character.stats.averageRating,
	],
	imports: ({ character }) => [character.stats.imports],
	mostRecent: ({ character }) => [Date.parse(character.createdAt)],
	ratingCount: ({ character }) => [character.stats.ratingCount],
};

/** The characters of this service at one moment. It is immutable, like the catalog on which it was built. */
export class Characters {
	readonly #bySlug: ReadonlyMap<string, CharacterEntry>;

	/** @param catalog resolves a trait that a character names to its model */
	constructor(data: readonly CharacterData[], catalog: Pick<Catalog, "traits">) {
		const traits = catalog.traits("text");
		this.#bySlug = new Map(data.map((one) => [one.slug, entryOf(one, traits)]));
	}

	/**
	 * Returns a character.
	 * @throws {ApiError} CHARACTER_NOT_FOUND
	 */
	get(slug: string): CharacterEntry {
		const entry = this.#bySlug.get(slug);
		if (entry) return entry;
		const shown = JSON.stringify(slug.length > 100 ? `${slug.slice(0, 100)}...` : slug);
		throw new ApiError("CHARACTER_NOT_FOUND", {
			message: `Unknown character ${shown}; GET /api/v1/characters lists what is available`,
		});
	}

	/** Returns one page of the characters that match a query (docs/models.md). */
	search(query: CharactersQuery, nowMs = Date.now()): Character[] {
		const matches = matcher(query);
		const rank = RANKS[query.sortBy ?? "unset"];
		const direction = query.sortOrder === "asc" ? 1 : -1;
		const matching = [...this.#bySlug.values()].filter(matches).map((entry) => ({ entry, rank: rank(entry, nowMs) }));
		matching.sort((a, b) => direction * compare(a.rank, b.rank) || (a.entry.character.slug < b.entry.character.slug ? -1 : 1));
		const start = query.offset ?? 0;
		return matching.slice(start, start + (query.limit ?? 50)).map(({ entry }) => entry.character);
	}
}

function entryOf(data: CharacterData, traits: Readonly<Record<string, string>>): CharacterEntry {
	const { id, name, slug, description, author, tags, createdAt, updatedAt } = data;
	const modelId = Object.hasOwn(traits, data.modelId) ? (traits[data.modelId] ?? data.modelId) : data.modelId;
	const character: Character = {
		id,
		name,
		slug,
		description,
		author,
		shareUrl: data.shareUrl ?? "",
		photoUrl: data.photoUrl ?? "",
		modelId,
		adult: data.adult ?? false,
		featured: data.featured ?? false,
		webEnabled: data.webEnabled ?? false,
		createdAt,
		updatedAt,
		tags,
		stats: { ...NO_STATS, ...(data.stats ?? starsOf(data)), userRating: 0 },
	};
	return { character, prompt: data.prompt, categories: data.categories ?? [], reviews: reviewsOf(data) };
}

function reviewsOf({ id, reviews = [] }: CharacterData): CharacterReview[] {
	return reviews
		.map((review) => ({
			id: review.id,
			characterId: id,
			createdAt: review.createdAt,
			isOwner: false,
			locale: review.locale ?? null,
			message: review.message ?? null,
			rating: review.rating,
			userAvatarUrl: review.userAvatarUrl ?? null,
			username: review.username,
		}))
		.sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
}

function starsOf({ reviews = [] }: CharacterData): Partial<Character["stats"]> {
	if (reviews.length === 0) return {};
	const ratingSum = reviews.reduce((sum, { rating }) => sum + rating, 0);
	return { ratingSum, ratingCount: reviews.length, averageRating: Math.round((ratingSum / reviews.length) * 100) / 100 };
}

function isRated({ stats }: Character): boolean {
	return stats.ratingCount >= ENOUGH_RATINGS;
}

function compare(a: readonly number[], b: readonly number[]): number {
	for (const [index, value] of a.entries()) {
		const other = b[index] ?? 0;
		if (value !== other) return value - other;
	}
	return 0;
}

/** Returns a filter that requires every parameter of a query; one value of a list is enough. */
function matcher(query: CharactersQuery): (entry: CharacterEntry) => boolean {
	const text = query.search === undefined ? undefined : textMatcher(query.search);
	const categories = anyOf(query.categories);
	const tags = anyOf(query.tags);
	const models = query.modelId && new Set(query.modelId);
	return ({ character, categories: own }) =>
		(!text || text(character)) &&
		(!categories || own.some(categories)) &&
		(!tags || character.tags.some(tags)) &&
		(!models || models.has(character.modelId)) &&
		(query.isAdult === undefined || String(character.adult) === query.isAdult) &&
		(query.isWebEnabled === undefined || String(character.webEnabled) === query.isWebEnabled) &&
		// No model of this service is reserved for a paid plan.
		query.isPro !== "true";
}

function anyOf(values: readonly string[] | undefined): ((value: string) => boolean) | undefined {
	const lowerCased = values && new Set(values.map((value) => value.toLowerCase()));
	return lowerCased && ((value) => lowerCased.has(value.toLowerCase()));
}

/** Returns a case-insensitive filter: `#tag` matches tags, other text matches name, description and tags. */
function textMatcher(search: string): (character: Character) => boolean {
	const text = search.trim().toLowerCase();
	if (text.startsWith("#")) return ({ tags }) => tags.some((tag) => tag.toLowerCase() === text.slice(1));
	return ({ name, description, tags }) => [name, description, ...tags].some((part) => part.toLowerCase().includes(text));
}
