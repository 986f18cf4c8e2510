/** Providers that are spoken to in their own protocol, through their packages (docs/chat.md, Other providers). */
export { isProviderUpstream, loadProvider, type ProviderUpstream } from "./load-provider.ts";
export type { ModelMakers } from "./packages.ts";
