import { missing, type ProviderScript, type Scene, sse } from "./script.ts";

/** Google's "GenerateContent" of the Gemini API, and "Thinking". */
export const google: ProviderScript = {
	provider: "google",
	settings: { key: "AIza-scripted" },
	model: "gemini-2.5-flash",
	path: (stream) => `/models/gemini-2.5-flash:${stream ? "streamGenerateContent" : "generateContent"}`,
	streamType: "text/event-stream",
	tells: { cached: true, written: false, thoughts: true },
	stream(scene) {
		const pieces = partsOf(scene);
		const events = pieces.map((part) => ({
			candidates: [{ content: { role: "model", parts: [part] }, index: 0 }],
			usageMetadata: usage(scene, 0),
		}));
		const last = {
			candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason: REASONS[scene.end], index: 0 }],
			usageMetadata: usage(scene, 1),
		};
		return sse([...events, last].map((event) => [null, { ...event, modelVersion: "gemini-2.5-flash", responseId: "scripted" }]));
	},
	whole(scene) {
		const content = { role: "model", parts: partsOf(scene) };
		return {
			candidates: [{ ...(scene.end === "refused" ? {} : { content }), finishReason: REASONS[scene.end], index: 0 }],
			usageMetadata: usage(scene, 1),
			modelVersion: "gemini-2.5-flash",
			responseId: "scripted",
		};
	},
	complaints({ headers, body }) {
		const contents = Array.isArray(body.contents) ? body.contents : [];
		const complaints = missing(headers.get("x-goog-api-key"), "x-goog-api-key");
		if (contents.length === 0) complaints.push("contents is empty");
		if (contents.some(({ role }) => role !== "user" && role !== "model")) complaints.push("a role is not user or model");
		return complaints;
	},
	errors: {
		busy: {
			status: 429,
			body: {
				error: {
					code: 429,
					message: "Resource has been exhausted (e.g. check rate limits).",
					status: "RESOURCE_EXHAUSTED",
					details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "17s" }],
				},
			},
		},
		account: {
			status: 400,
			body: { error: { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" } },
		},
		request: { status: 400, body: { error: { code: 400, message: "contents is not specified", status: "INVALID_ARGUMENT" } } },
		missing: { status: 404, body: { error: { code: 404, message: "models/none is not found", status: "NOT_FOUND" } } },
		broken: { status: 500, body: { error: { code: 500, message: "An internal error has occurred.", status: "INTERNAL" } } },
	},
	streamError: sse([[null, { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } }]]),
};

const REASONS: Readonly<Record<Scene["end"], string>> = {
	stop: "STOP",
	length: "MAX_TOKENS",
	tool_calls: "STOP",
	refused: "PROHIBITED_CONTENT",
};

function partsOf(scene: Scene): object[] {
	return [
		...scene.thoughts.map((text) => ({ text, thought: true })),
		...scene.text.map((text) => ({ text })),
		// Arguments come whole here; the id is the package's to make.
		...scene.calls.map(({ name, pieces }, index) => ({
			functionCall: { name, args: JSON.parse(pieces.join("")) },
			...(index === 0 ? { thoughtSignature: "c2lnbmVk" } : {}),
		})),
	];
}

function usage({ usage: { input, cached, output, thoughts } }: Scene, share: number) {
	return {
		promptTokenCount: input,
		cachedContentTokenCount: cached,
		candidatesTokenCount: (output - thoughts) * share,
		thoughtsTokenCount: thoughts * share,
		totalTokenCount: input + output * share,
	};
}
