/** The API document as it is fuzzed, with names that exist here, and what Schemathesis is told of single operations. */
interface Schema {
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly [keyword: string]: unknown;
}
interface Operation {
	readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
	readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
	readonly security?: readonly object[];
	readonly responses: Readonly<Record<string, object>>;
}
export interface FuzzedDocument {
	readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Path -> the members and parameters whose random values would be names of nothing. */
const NAMES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
	"/chat/completions": { model: ["text-large"] },
	"/responses": { model: ["text-large"] },
	"/messages": { model: ["text-large"] },
	"/messages/count_tokens": { model: ["text-large"] },
	"/audio/speech": { model: ["tts-orpheus"] },
	"/audio/transcriptions": { model: ["openai/whisper-large-v3"] },
	"/audio/voices": { model: ["tts-orpheus"] },
	"/embeddings": { model: ["text-vectors"] },
	"/image/generate": { model: ["z-image-turbo", "gpt-image-2"] },
	"/image/edit": { model: ["local-edit", "own-edit"], modelId: ["local-edit", "own-edit"] },
	"/image/multi-edit": { modelId: ["local-edit", "own-edit"] },
	"/images/edits": { model: ["local-edit", "own-edit"] },
	"/crypto/rpc/{network}": { network: ["ethereum-mainnet", "base-mainnet"] },
	"/tee/attestation": { model: ["attested-model"] },
	"/tee/signature": { model: ["attested-model"] },
};

/** The HTTP layer's own answer to addresses over 16 KiB, of any route (docs/api.md). */
const TOO_LONG = { "431": { description: "The address and the headers are too long" } };

/** Puts the names of what this service has in the place of any text, and adds what is the same for all routes. */
export function withNamesThatExist(document: FuzzedDocument): FuzzedDocument {
	const paths = Object.entries(document.paths).map(([path, methods]) => {
		const names = NAMES[path] ?? {};
		const named = Object.entries(methods).map(([method, operation]) => [method, withNames(operation, names)] as const);
		return [path, Object.fromEntries(named)] as const;
	});
	return { ...document, paths: Object.fromEntries(paths) };
}

function withNames(operation: Operation, names: Readonly<Record<string, readonly string[]>>): Operation {
	const schemaOf = (name: string, schema: Schema): Schema => {
		const known = names[name];
		if (known === undefined) return schema;
		return Array.isArray(schema.type) ? { enum: [...known, null] } : { type: "string", enum: known };
	};
	const parameters = operation.parameters?.map((parameter) => ({
		...parameter,
		schema: schemaOf(parameter.name, parameter.schema),
	}));
	const contents = Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema }]) => {
		const members = Object.entries(schema.properties ?? {}).map(([name, of]) => [name, schemaOf(name, of)] as const);
		return [type, { schema: { ...schema, properties: Object.fromEntries(members) } }] as const;
	});
	return {
		...operation,
		responses: { ...operation.responses, ...TOO_LONG },
		...(parameters === undefined ? {} : { parameters }),
		...(operation.requestBody === undefined
			? {}
			: { requestBody: { ...operation.requestBody, content: Object.fromEntries(contents) } }),
	};
}

/** What an operation checks beside its schema, so that what fits it may be refused, and how. */
const MORE_CHECKS: Readonly<Record<string, readonly [why: string, ...statuses: number[]]>> = {
	"GET /admin/accounts": ["a cursor is one of a page before", 400],
	"POST /admin/accounts": ["a name has letters; an Idempotency-Key stands for one account", 400],
	"PATCH /admin/accounts/{id}": ["a name has letters, a wallet its checksum, and nobody disables their own account", 400],
	"GET /admin/accounts/{id}/credits": ["a cursor is one of a page before", 400],
	"GET /admin/accounts/{id}/debits": ["a cursor is one of a page before", 400],
	"GET /admin/accounts/{id}/refunds": ["a cursor is one of a page before", 400],
	"POST /admin/accounts/{id}/credits": ["an amount is more than 0; an Idempotency-Key stands for one movement", 400],
	"POST /admin/accounts/{id}/debits": ["an amount is more than 0 and there; an Idempotency-Key stands for one movement", 400],
	"POST /admin/accounts/{id}/refunds": ["an amount is more than 0; an Idempotency-Key stands for one movement", 400],
	"POST /admin/accounts/{id}/keys": ["an expiry is a day to come, an address exists", 400],
	"PATCH /admin/accounts/{id}/keys/{keyId}": ["an expiry is a day to come, an address exists", 400],
	"POST /api_keys": ["an expiry is a day to come, an address exists", 400],
	"PATCH /api_keys": ["an expiry is a day to come, an address exists", 400],
	"POST /api_keys/generate_web3_key": ["the signature is the wallet's, of a token that was given", 400],
	"GET /billing/usage": ["the 30th of February is no day; the end is not before the start", 400],
	"GET /billing/usage-history": ["the cursor is sealed, and stands alone", 400],
	"GET /billing/movements": ["the cursor is sealed, and stands alone", 400],
	"GET /billing/usage-analytics": ["both dates or neither, within 90 days", 400],
	"GET /tee/attestation": ["of a model whose server attests", 400],
	"POST /chat/completions": ["the order of messages, what the model can do, media", 400, 413, 422],
	"POST /completions": ["no echo; a text fits the context", 400],
	"POST /responses": ["the order of items, what the model can do, media", 400, 413, 422],
	"POST /messages": ["the order of messages, what the model can do, media", 400, 413, 422],
	"POST /messages/count_tokens": ["the order of messages, media", 400, 413, 422],
	"POST /embeddings": ["dimensions are the model's", 400],
	"POST /audio/speech": ["a voice is the model's, a text has letters", 400],
	"POST /audio/transcriptions": ["a file is audio", 400, 422],
	"POST /audio/voices": ["a file is audio, a model clones voices", 400],
	"POST /augment/scrape": ["an address is one of the public internet", 400],
	"POST /augment/text-parser": ["a file has text", 400],
	"POST /image/generate": ["size and options are the model's", 400, 422],
	"POST /image/generations": ["a model makes pictures", 400, 422],
	"POST /images/generations": ["a model makes pictures", 400, 422],
	"POST /image/edit": ["a file is a picture, options are the model's", 400, 422],
	"POST /image/multi-edit": ["a file is a picture, options are the model's", 400, 422],
	"POST /images/edits": ["a file is a picture, options are the model's", 400, 422],
	"POST /image/upscale": ["a file is a picture", 400, 422],
	"POST /image/background-remove": ["a file is a picture", 400, 422],
	"POST /crypto/rpc/{network}": ["a method is forwarded", 400],
	"POST /x402/top-up": ["without a payment the answer is an offer; an amount is within its limits", 400, 402],
};

/** What Schemathesis takes for accepted, but for errors of the server. */
const ACCEPTANCE = ['"2xx"', 401, 403, 404, 409, 429, 431] as const;
/** What it takes for a refusal, and two more. */
const REFUSALS = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, 431] as const;

export interface SettingsDocument {
	/** An account that exists. */
	readonly accountId: string;
}

/** schemathesis.toml. */
export function operationSettings(document: FuzzedDocument, { accountId }: SettingsDocument): string {
	const names = Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
	);
	return [
		'suppress-health-check = ["all"]',
		"request-timeout = 300",
		"[checks]",
		"enabled = true",
		`positive_data_acceptance.expected-statuses = [${ACCEPTANCE.join(", ")}]`,
		`negative_data_rejection.expected-statuses = [${REFUSALS.join(", ")}]`,
		"[generation]",
		"with-security-parameters = false",
		'database = "none"',
		...names.flatMap(([name, operation]) => settingsOf(name, operation, accountId)),
		"",
	].join("\n");
}

function settingsOf(name: string, { security = [] }: Operation, accountId: string): string[] {
	const [, ...more] = MORE_CHECKS[name] ?? [""];
	const checks = [
		// Without a credential they answer with an offer (402), not with 401.
		...(security.some((scheme) => "wallet" in scheme) ? ["checks.ignored_auth.enabled = false"] : []),
		...(more.length === 0
			? []
			: [`checks.positive_data_acceptance.expected-statuses = [${[...ACCEPTANCE, ...more].join(", ")}]`]),
	];
	const parameters = name.includes("/admin/accounts/{id}") ? [`parameters.id = "${accountId}"`] : [];
	const lines = [...checks, ...parameters];
	return lines.length === 0 ? [] : ["[[operations]]", `include-name = "${name}"`, ...lines];
}
