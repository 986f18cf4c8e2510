/**
 * The web in conversations. Promises: a search or a page that fails takes nothing with it but itself; what others wrote is
 * marked as theirs, by marks that they cannot know.
 */
export {
	gatherWebResults,
	NOTHING_FOUND,
	pagesLine,
	searchLine,
	type WebRequest,
	type WebResults,
} from "./gather-web-results.ts";
export { type Decision, type DecisionRequest, decideSearch, decisionRequest, questionUsage } from "./search-decision.ts";
export { plainTextInTurns, type UntrustedOptions, type UntrustedText, untrustedTexts } from "./untrusted-text.ts";
export { MAX_PAGES, type PageAttempt, readPages, searchWeb, urlsIn, type WebDeps, type WebSource } from "./web-sources.ts";
