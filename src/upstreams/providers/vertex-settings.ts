import type { GoogleVertexProviderSettings } from "@ai-sdk/google-vertex";
import type { PackageSettings } from "./packages.ts";
import { ServiceAccountToken } from "./service-account-token.ts";

type Options = Readonly<Record<string, string>>;
type AuthClient = NonNullable<NonNullable<GoogleVertexProviderSettings["googleAuthOptions"]>["authClient"]>;

/** Tokens by the options of an upstream's entry, since a token outlives the call that fetched it. */
const TOKENS = new WeakMap<Options, ServiceAccountToken>();

function tokenOf(options: Options, fetch: PackageSettings["fetch"]): ServiceAccountToken {
	const { clientEmail = "", privateKey = "", privateKeyId } = options;
	const known = TOKENS.get(options) ?? new ServiceAccountToken({ clientEmail, privateKey, privateKeyId, fetch });
	TOKENS.set(options, known);
	return known;
}

/**
 * Returns settings for the express mode if there is a key, else for the project with tokens of a service account. The
 * empty key hides a key of the environment.
 */
export function vertexSettings(settings: PackageSettings, options: Options): GoogleVertexProviderSettings {
	const { project, location } = options;
	if (settings.apiKey !== "") return settings;
	const token = tokenOf(options, settings.fetch);
	// The only method that the package calls. The library's own client would not use our fetch.
	const client: Pick<AuthClient, "getAccessToken"> = { getAccessToken: async () => ({ token: await token.get() }) };
	return {
		...settings,
		...(project === undefined ? {} : { project }),
		...(location === undefined ? {} : { location }),
		googleAuthOptions: { authClient: client as AuthClient },
	};
}
