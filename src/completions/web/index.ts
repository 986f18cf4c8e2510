/**
 * The web in conversations. Promises: a failing search or page affects nothing else; texts from outside are marked as
 * such, by marks that their writers cannot know.
 */
export {
	gatherWebResults,
	NO_WEB_RESULTS,
	pagesLine,
	searchLine,
	type WebRequest,
	type WebResults,
} from "./gather-web-results.ts";
export { type Decision, type DecisionRequest, decideSearch, decisionRequest, questionUsage } from "./search-decision.ts";
export { plainTextInTurns, type UntrustedOptions, type UntrustedText, untrustedTexts } from "./untrusted-text.ts";
export { MAX_PAGES, type PageAttempt, readPages, searchWeb, urlsIn, type WebDeps, type WebSource } from "./web-sources.ts";
