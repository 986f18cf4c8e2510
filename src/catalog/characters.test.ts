import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../errors/index.ts";
import { checker } from "../schema/index.ts";
import { CharacterSchema } from "./answers.ts";
import { buildCatalog } from "./build-catalog.ts";
import { Characters } from "./characters.ts";
import { CharactersQuerySchema, readCharactersQuery } from "./characters-query.ts";
import { data, inputsOf } from "./config-for-tests.ts";
import type { CharacterData } from "./data-schema.ts";

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

describe("the query string", () => {
	const read = (text: string) => readCharactersQuery(new URLSearchParams(text));

	test("is read in the schema's types", () => {
		expect(read("limit=5&offset=10&tags=a,b&tags=c&search=x%20y&isAdult=false&other=1")).toEqual({
			limit: 5,
			offset: 10,
			tags: ["a", "b", "c"],
			search: "x y",
			isAdult: "false",
		});
	});

	test("takes empty values and a null offset as absent, and the last of several", () => {
		expect(read("offset=null&limit=&search=")).toEqual({});
		expect(read("limit=5&limit=7")).toEqual({ limit: 7 });
	});

	test.each([
		["limit=0", "limit"],
		["limit=101", "limit"],
		["limit=ten", "limit"],
		["limit=1.5", "limit"],
		["limit=1e1", "limit"],
		["offset=-1", "offset"],
		["isAdult=yes", "isAdult"],
		["sortBy=best", "sortBy"],
		["sortOrder=up", "sortOrder"],
		[`search=${"x".repeat(201)}`, "search"],
		[`tags=${"x,".repeat(21)}`, "tags"],
		[`categories=${"x".repeat(101)}`, "categories"],
	])("%s is refused", (text, field) => expect(query.issues(read(text)).map(({ path }) => path[0])).toEqual([field]));

	test("never makes the search throw once it has passed the schema", () => {
		const pair = fc.tuple(fc.constantFrom(...Object.keys(CharactersQuerySchema.properties), "x"), fc.string());
		fc.assert(
			fc.property(fc.array(pair, { maxLength: 6 }), (pairs) => {
				const asked = readCharactersQuery(new URLSearchParams(pairs));
				if (query.check(asked)) expect(builtIn.search(asked, NOW).length).toBeLessThanOrEqual(6);
			}),
			{ numRuns: 500 },
		);
	});
});
