/** An operator's own characters: their reviews, and what they say in a chat. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChatGateway, HELLO, startChatGateway } from "./chat-gateway.ts";

let fixture: ChatGateway;
let folder: string;

const review = (day: number, rating: number, more: object = {}) => ({
	id: `r${day}`,
	createdAt: `2026-01-0${day}T00:00:00.000Z`,
	username: `reader_${day}`,
	rating,
	...more,
});

beforeAll(async () => {
	folder = await mkdtemp(join(tmpdir(), "characters-"));
	const file = join(folder, "characters.json");
	const shared = { author: "abcde", modelId: "default", tags: [], prompt: "You are terse." };
	const dates = { createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:00.000Z" };
	const characters = [
		{
			...shared,
			...dates,
			id: "c1",
			slug: "loved",
			name: "Loved",
			description: "",
			reviews: [review(1, 4, { message: "Clear.", locale: "en" }), review(3, 5), review(2, 5)],
		},
		{ ...shared, ...dates, id: "c2", slug: "unknown", name: "Unknown", description: "" },
	];
	await Bun.write(file, JSON.stringify({ characters }));
	fixture = await startChatGateway({ config: { characters: file } });
});
afterAll(async () => {
	await fixture.stop();
	await rm(folder, { recursive: true });
});

interface Reviews {
	readonly data: readonly { readonly id: string }[];
	readonly pagination: object;
	readonly summary: object;
}

const get = (path: string) => fixture.gate.call("GET", path);
const reviews = async (query = "") => (await (await get(`/characters/loved/reviews${query}`)).json()) as Reviews;

test("reviews come newest first, page by page, and the headers say the same as the body", async () => {
	const all = await reviews();
	expect(all.data.map(({ id }) => id)).toEqual(["r3", "r2", "r1"]);
	expect(all.data[2] as object).toEqual({
		...review(1, 4),
		characterId: "c1",
		isOwner: false,
		locale: "en",
		message: "Clear.",
		userAvatarUrl: null,
	});
	expect(all.summary).toEqual({ averageRating: 4.67, totalReviews: 3 });
	const second = await get("/characters/loved/reviews?page=2&pageSize=2");
	const body = (await second.json()) as Reviews;
	expect(body.data.map(({ id }) => id)).toEqual(["r1"]);
	expect(body.pagination).toEqual({ page: 2, pageSize: 2, total: 3, totalPages: 2 });
	const headers = ["limit", "page", "total", "total-pages"].map((name) => second.headers.get(`x-pagination-${name}`));
	expect(headers).toEqual(["2", "2", "3", "2"]);
	expect((await reviews("?page=9")).data).toEqual([]);
});

test("a character that nobody has reviewed has an empty list; one that is not there is 404", async () => {
	const none = (await (await get("/characters/unknown/reviews")).json()) as Reviews;
	expect(none).toMatchObject({
		object: "list",
		data: [],
		pagination: { total: 0, totalPages: 0 },
		summary: { averageRating: 0, totalReviews: 0 },
	});
	expect((await get("/characters/nobody/reviews")).status).toBe(404);
	for (const query of ["page=0", "pageSize=0", "pageSize=101", "page=x"]) {
		const refused = await get(`/characters/loved/reviews?${query}`);
		expect(refused.status).toBe(400);
		const [name = ""] = query.split("=");
		expect(((await refused.json()) as { details: object }).details).toHaveProperty(name);
	}
});

test("its stars are those of its reviews", async () => {
	const { data } = (await (await get("/characters/loved")).json()) as { data: { stats: object } };
	expect(data.stats).toEqual({ averageRating: 4.67, imports: 0, ratingCount: 3, ratingSum: 14, userRating: 0 });
});

test("its prompt leads the chat, by the body or the suffix of the model, and stays unseen", async () => {
	const led = [{ role: "system", content: "You are terse." }, ...HELLO.messages];
	const answer = await fixture.gate.chat({ ...HELLO, service_parameters: { character_slug: "loved" } });
	expect(fixture.lastSent().body.messages).toEqual(led);
	expect(await answer.text()).not.toContain("terse");
	await fixture.gate.chat({ ...HELLO, model: `${HELLO.model}:character_slug=loved` });
	expect(fixture.lastSent().body.messages).toEqual(led);
});
