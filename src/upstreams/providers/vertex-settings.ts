import type { GoogleVertexProviderSettings } from "@ai-sdk/google-vertex";
import type { PackageSettings } from "./packages.ts";
import { ServiceAccountToken } from "./service-account-token.ts";

type AuthClient = NonNullable<NonNullable<GoogleVertexProviderSettings["googleAuthOptions"]>["authClient"]>;

/** With a key its express mode; else the project and tokens of a service account. An empty key keeps the environment's away. */
export function vertexSettings(
	settings: PackageSettings,
	options: Readonly<Record<string, string>>,
): GoogleVertexProviderSettings {
	const { project, location, clientEmail = "", privateKey = "", privateKeyId } = options;
	if (settings.apiKey !== "") return settings;
	const token = new ServiceAccountToken({ clientEmail, privateKey, privateKeyId, fetch: settings.fetch });
	// The one method that the package calls: the library's own client would fetch tokens past our fetch.
	const client: Pick<AuthClient, "getAccessToken"> = { getAccessToken: async () => ({ token: await token.get() }) };
	return {
		...settings,
		...(project === undefined ? {} : { project }),
		...(location === undefined ? {} : { location }),
		googleAuthOptions: { authClient: client as AuthClient },
	};
}
