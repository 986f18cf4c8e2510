import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../errors/index.ts";
import { checker } from "../schema/index.ts";
import { CharacterSchema } from "./answers.ts";
import { buildCatalog } from "./build-catalog.ts";
import { Characters } from "./characters.ts";
import { CharactersQuerySchema } from "./characters-query.ts";
import type { CharacterData } from "./data-schema.ts";
import { data, inputsOf } from "./testing/config.ts";

const NOW = Date.parse("2026-06-15T00:00:00Z");
const catalog = buildCatalog(inputsOf());
const builtIn = new Characters(data.characters, catalog);
const query = checker(CharactersQuerySchema);

function one(slug: string, more: Partial<CharacterData> = {}): CharacterData {
	return {
		id: slug,
		slug,
		name: `Name of ${slug}`,
		description: "",
		author: "abcde",
		modelId: "default",
		tags: [],
		createdAt: "2026-01-01T00:00:00.000Z",
		updatedAt: "2026-01-01T00:00:00.000Z",
		prompt: "secret prompt",
		...more,
	};
}

function stars(averageRating: number, ratingCount: number, imports = 0): Pick<CharacterData, "stats"> {
	return { stats: { averageRating, ratingCount, imports, ratingSum: averageRating * ratingCount } };
}

describe("the built-in characters", () => {
	test("are six, each with a prompt, and with every public field filled", () => {
		const shown = builtIn.search({}, NOW);
		expect(shown).toHaveLength(6);
		for (const character of shown) {
			expect(checker(CharacterSchema).issues(character)).toEqual([]);
			expect(Object.keys(character)).toHaveLength(15);
			expect(builtIn.get(character.slug).prompt.length).toBeGreaterThan(200);
		}
	});

	test("name the model that their trait stands for", () => {
		expect(builtIn.get("rubber-duck").character.modelId).toBe("smollm2-135m-instruct");
	});

	test("show no prompt", () => {
		expect(JSON.stringify(builtIn.search({}, NOW))).not.toContain("prompt");
	});
});

test("an unknown slug is 404 CHARACTER_NOT_FOUND, however it is written", () => {
	for (const slug of ["nope", "", "__proto__", "x".repeat(100_000)]) {
		try {
			builtIn.get(slug);
			expect.unreachable();
		} catch (error) {
			expect(error).toBeInstanceOf(ApiError);
			expect(error).toMatchObject({ status: 404, code: "CHARACTER_NOT_FOUND" });
			expect((error as ApiError).message.length).toBeLessThan(250);
		}
	}
});

describe("a search", () => {
	const characters = new Characters(
		[
			one("a", { tags: ["Maths", "fun"], categories: ["school"], featured: true, ...stars(3, 10, 5) }),
			one("b", {
				description: "Knows MATHS too",
				categories: ["home"],
				createdAt: "2026-06-01T00:00:00.000Z",
				...stars(5, 4, 9),
			}),
			one("c", { tags: ["fun"], adult: true, webEnabled: true, modelId: "other", ...stars(4, 5, 1) }),
			one("d", { createdAt: "2026-06-10T00:00:00.000Z", ...stars(3.5, 6) }),
		],
		catalog,
	);
	const slugs = (search: Parameters<Characters["search"]>[0]) =>
		characters
			.search(search, NOW)
			.map(({ slug }) => slug)
			.join("");

	test.each([
		[{}, "abcd"],
		[{ search: "maths" }, "ab"],
		[{ search: "  MATHS " }, "ab"],
		[{ search: "#maths" }, "a"],
		[{ search: "#mat" }, ""],
		[{ search: "name of d" }, "d"],
		[{ categories: ["home", "SCHOOL"] }, "ab"],
		[{ tags: ["fun"], categories: ["school"] }, "a"],
		[{ modelId: ["other"] }, "c"],
		[{ isAdult: "true" }, "c"],
		[{ isAdult: "false", isWebEnabled: "false" }, "abd"],
		[{ isPro: "true" }, ""],
		[{ isPro: "false" }, "abcd"],
		[{ limit: 2 }, "ab"],
		[{ limit: 2, offset: 3 }, "d"],
		[{ offset: 1_000_000 }, ""],
	] as const)("%p finds %s", (search, found) => expect(slugs(search as never)).toBe(found));

	test.each([
		[{ sortBy: "featured" }, "abcd"],
		[{ sortBy: "highestRating" }, "bcda"],
		[{ sortBy: "highlyRated" }, "cdab"],
		[{ sortBy: "highlyRatedAndRecent" }, "dcab"],
		[{ sortBy: "imports" }, "bacd"],
		[{ sortBy: "imports", sortOrder: "asc" }, "dcab"],
		[{ sortBy: "mostRecent" }, "dbac"],
		[{ sortBy: "ratingCount" }, "adcb"],
	] as const)("%p gives %s", (search, order) => expect(slugs(search)).toBe(order));
});

describe("the query", () => {
	test.each([
		["limit", 0],
		["limit", 101],
		["limit", "ten"],
		["limit", 1.5],
		["offset", -1],
		["isAdult", "yes"],
		["sortBy", "best"],
		["sortOrder", "up"],
		["search", "x".repeat(201)],
		["tags", Array.from({ length: 21 }, () => "x")],
		["categories", ["x".repeat(101)]],
		["modelId", ["x".repeat(201)]],
	])("refuses %s: %p", (field, value) => {
		expect(query.issues({ [field]: value }).map(({ path }) => path[0])).toEqual([field]);
	});

	test("never makes the search throw once it has passed the schema", () => {
		const words = fc.array(fc.string({ maxLength: 100 }), { maxLength: 20 });
		const asked = fc.record(
			{
				search: fc.string({ maxLength: 200 }),
				tags: words,
				categories: words,
				limit: fc.integer({ min: 1, max: 100 }),
				offset: fc.nat(),
				sortBy: fc.constantFrom(...(CharactersQuerySchema.properties.sortBy.enum ?? [])),
				sortOrder: fc.constantFrom("asc", "desc"),
			},
			{ requiredKeys: [] },
		);
		fc.assert(
			fc.property(asked, (search) => {
				if (!query.check(search)) throw new Error("the schema refuses what it should take");
				expect(builtIn.search(search, NOW).length).toBeLessThanOrEqual(6);
			}),
			{ numRuns: 500 },
		);
	});
});
