import type { GoogleVertexProviderSettings } from "@ai-sdk/google-vertex";
import type { PackageSettings } from "./package-settings.ts";
import { ServiceAccountToken } from "./service-account-token.ts";

type Options = Readonly<Record<string, string>>;
type AuthClient = NonNullable<NonNullable<GoogleVertexProviderSettings["googleAuthOptions"]>["authClient"]>;

/** By the options of an upstream's entry: a token outlives the call that it was fetched for. */
const TOKENS = new WeakMap<Options, ServiceAccountToken>();

function tokenOf(options: Options, fetch: PackageSettings["fetch"]): ServiceAccountToken {
	const { clientEmail = "", privateKey = "", privateKeyId } = options;
	const known = TOKENS.get(options) ?? new ServiceAccountToken({ clientEmail, privateKey, privateKeyId, fetch });
	TOKENS.set(options, known);
	return known;
}

/** With a key its express mode; else the project and tokens of a service account. An empty key keeps the environment's away. */
export function vertexSettings(settings: PackageSettings, options: Options): GoogleVertexProviderSettings {
	const { project, location } = options;
	if (settings.apiKey !== "") return settings;
	const token = tokenOf(options, settings.fetch);
	// The one method that the package calls: the library's own client would fetch tokens past our fetch.
	const client: Pick<AuthClient, "getAccessToken"> = { getAccessToken: async () => ({ token: await token.get() }) };
	return {
		...settings,
		...(project === undefined ? {} : { project }),
		...(location === undefined ? {} : { location }),
		googleAuthOptions: { authClient: client as AuthClient },
	};
}
