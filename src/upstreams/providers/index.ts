/** Providers that are spoken to in their own protocol, through their packages (docs/chat.md, Other providers). */
export { loadProvider } from "./load-provider.ts";
export type { ModelMakers } from "./packages.ts";
export { isProviderUpstream, type ProviderUpstream } from "./provider-upstream.ts";
