/**
 * The web in conversations. Promises: a search or a page that fails takes nothing with it but itself; what others wrote is
 * marked as theirs, by marks that they cannot know.
 */
export { gather, NOTHING_FOUND, pagesLine, searchLine, type WebFound, type WebWanted } from "./gather.ts";
export { type Decision, type DecisionRequest, decide, decisionRequest, questionUsage } from "./search-decision.ts";
export { plainTextInTurns, type UntrustedOptions, type UntrustedText, untrustedTexts } from "./untrusted-text.ts";
export { MAX_PAGES, type PageTried, readPages, searchWeb, urlsIn, type WebSource, type WebTools } from "./web-sources.ts";
