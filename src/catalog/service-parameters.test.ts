import { describe, expect, test } from "bun:test";
import { ApiError } from "../errors/index.ts";
import { checker } from "../schema/index.ts";
import {
	mergeServiceParameters,
	SERVICE_PARAMETER_DEFAULTS,
	ServiceParametersEchoSchema,
	ServiceParametersSchema,
	serviceParametersEcho,
	withinFeatures,
} from "./service-parameters.ts";

const NO_WEB = { webSearch: false, webScraping: false, xSearch: false };
const schema = checker(ServiceParametersSchema);

describe("the schema", () => {
	test("takes every option, and ignores keys that it does not know", () => {
		expect(schema.check({ ...SERVICE_PARAMETER_DEFAULTS, character_slug: "x", something_else: {} })).toBe(true);
		expect(schema.check({})).toBe(true);
	});

	test.each([
		["enable_web_search", true],
		["enable_web_search", "yes"],
		["enable_web_search", null],
		["disable_thinking", "true"],
		["disable_thinking", 1],
		["character_slug", ""],
		["character_slug", 5],
		["character_slug", "x".repeat(201)],
	])("refuses %s: %p", (key, value) => {
		expect(schema.issues({ [key]: value }).map(({ path }) => path)).toEqual([[key]]);
	});

	test("refuses what is no object", () => {
		for (const value of [null, [], "x", 1]) expect(schema.check(value)).toBe(false);
	});
});

describe("the options in force", () => {
	test("are the defaults where nothing is said", () => {
		expect(mergeServiceParameters(undefined, {})).toEqual(SERVICE_PARAMETER_DEFAULTS);
		expect(SERVICE_PARAMETER_DEFAULTS).toMatchObject({
			enable_e2ee: true,
			include_service_system_prompt: true,
			enable_web_search: "off",
		});
	});

	test("take the body's word over the suffix's, also for a default", () => {
		const merged = mergeServiceParameters(
			{ enable_web_search: "off", disable_thinking: false },
			{ enable_web_search: "on", disable_thinking: true, character_slug: "x" },
		);
		expect(merged).toEqual({ ...SERVICE_PARAMETER_DEFAULTS, character_slug: "x" });
	});
});

describe("a feature that is missing", () => {
	const options = (more: object) => mergeServiceParameters(more, {});

	test("makes auto act as off, and leaves flags that only shape results alone", () => {
		const flags = {
			enable_web_citations: true,
			return_search_results_as_documents: true,
			include_search_results_in_stream: true,
		};
		expect(withinFeatures(options({ enable_web_search: "auto", ...flags }), NO_WEB)).toMatchObject({
			enable_web_search: "off",
			...flags,
		});
	});

	test.each([
		[{ enable_web_search: "on" }, "service_parameters.enable_web_search"],
		[{ enable_web_scraping: true }, "service_parameters.enable_web_scraping"],
		[{ enable_x_search: true }, "service_parameters.enable_x_search"],
	])("refuses %p", (more, param) => {
		try {
			withinFeatures(options(more), NO_WEB);
			expect.unreachable();
		} catch (error) {
			expect(error).toBeInstanceOf(ApiError);
			expect(error).toMatchObject({ status: 400, options: { param } });
		}
	});

	test("does not matter where it is not asked for, nor refuse what is there", () => {
		const asked = options({ enable_web_search: "on", enable_web_scraping: true, enable_x_search: true });
		expect(withinFeatures(asked, { webSearch: true, webScraping: true, xSearch: true })).toBe(asked);
		expect(withinFeatures(SERVICE_PARAMETER_DEFAULTS, NO_WEB)).toBe(SERVICE_PARAMETER_DEFAULTS);
	});
});

describe("the echo", () => {
	test("has its nine options in their order, the citations, and nothing of X search", () => {
		expect(Object.keys(serviceParametersEcho(SERVICE_PARAMETER_DEFAULTS))).toEqual([
			"enable_e2ee",
			"enable_web_search",
			"enable_web_citations",
			"enable_web_scraping",
			"include_service_system_prompt",
			"include_search_results_in_stream",
			"return_search_results_as_documents",
			"strip_thinking_response",
			"disable_thinking",
			"web_search_citations",
		]);
		expect(serviceParametersEcho(SERVICE_PARAMETER_DEFAULTS).web_search_citations).toEqual([]);
	});

	test("names the character where there is one", () => {
		const echo = serviceParametersEcho(mergeServiceParameters({ character_slug: "x" }, {}), [
			{ title: "T", url: "https://t.example" },
		]);
		expect(echo).toMatchObject({ character_slug: "x", web_search_citations: [{ title: "T", url: "https://t.example" }] });
		expect(checker(ServiceParametersEchoSchema).issues(echo)).toEqual([]);
	});

	test("shows no key that came from the caller alone", () => {
		const body = JSON.parse('{"__proto__": {"disable_thinking": true}, "other": 1}');
		const echo = serviceParametersEcho(mergeServiceParameters(body, {}));
		expect(echo.disable_thinking).toBe(false);
		expect(JSON.stringify(echo)).not.toContain("other");
	});
});
