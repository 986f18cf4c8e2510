import { anthropic } from "./anthropic.ts";
import { bedrock } from "./bedrock.ts";
import { cohere } from "./cohere.ts";
import { google } from "./google.ts";
import { deepinfra, groq, LIKE_OPENAI_SCRIPTS, mistral } from "./openai-form.ts";
import type { ProviderScript } from "./script.ts";
import { xai } from "./xai.ts";

export { SIGNATURE } from "./anthropic.ts";
export * from "./script.ts";
export { anthropic, bedrock, cohere, deepinfra, google, groq, LIKE_OPENAI_SCRIPTS, mistral, xai };

export const SCRIPTS: readonly ProviderScript[] = [anthropic, google, mistral, bedrock, xai, groq, cohere, deepinfra];
