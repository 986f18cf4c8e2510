import { describe, expect, test } from "bun:test";
import { ApiError } from "../errors/index.ts";
import { splitModelRef } from "./model-ref.ts";

function problemOf(ref: string): string {
	try {
		splitModelRef(ref);
	} catch (error) {
		if (error instanceof ApiError && error.code === "INVALID_REQUEST") return error.message;
		throw error;
	}
	throw new Error(`${ref} was taken`);
}

describe("a suffix", () => {
	test.each([
		["m:web", { enable_web_search: "on" }],
		["m:enable_web_search=auto", { enable_web_search: "auto" }],
		["a/b:c:disable_thinking=true&enable_e2ee=false", { disable_thinking: true, enable_e2ee: false }],
		["m:character_slug=rubber-duck", { character_slug: "rubber-duck" }],
		["m:character_slug=a%3Ab%20%C3%A9", { character_slug: "a:b é" }],
		["m:character_slug=a=b", { character_slug: "a=b" }],
		["m:enable_web_search=on&enable_web_search=off", { enable_web_search: "off" }],
		[
			"m:enable_web_citations=true&enable_web_scraping=true&include_service_system_prompt=false&include_search_results_in_stream=true&strip_thinking_response=true&return_search_results_as_documents=true&enable_x_search=false",
			{
				enable_web_citations: true,
				enable_web_scraping: true,
				include_service_system_prompt: false,
				include_search_results_in_stream: true,
				strip_thinking_response: true,
				return_search_results_as_documents: true,
				enable_x_search: false,
			},
		],
	])("%s", (ref, suffix) => {
		expect(splitModelRef(ref)).toEqual({ name: ref.slice(0, ref.lastIndexOf(":")), suffix } as never);
	});

	test.each(["m", "", ":web", "m:", "m:1b", "m:a=b", "m:Web", "m:disable_thinking", "m:&", "m:=", "m:WEB=1&x"])(
		"%p is a name as a whole",
		(ref) => expect(splitModelRef(ref)).toBeUndefined(),
	);

	test.each([
		["m:enable_web_search=yes", "off, on, auto"],
		["m:enable_web_search=", "off, on, auto"],
		["m:disable_thinking=1", "true or false"],
		["m:disable_thinking=TRUE", "true or false"],
		["m:character_slug=", "slug"],
		["m:character_slug=%", "slug"],
		["m:character_slug=%ff", "slug"],
		["m:disable_thinking=true&enable_e2ee", "enable_e2ee must be"],
		["m:disable_thinking=true&", 'unknown option ""'],
		["m:disable_thinking=true&a=b", 'unknown option "a"'],
		["m:disable_thinking=true&__proto__=1", 'unknown option "__proto__"'],
		["m:web&disable_thinking=true", 'unknown option "web"'],
		["m:enable_web_search=on&enable_web_search=bad", "off, on, auto"],
	])("%s is refused", (ref, text) => expect(problemOf(ref)).toContain(text));
});
