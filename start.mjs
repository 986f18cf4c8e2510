#!/usr/bin/env node
/** `npm start`: needs Node and npm and nothing else; brings the rest, then serves. */
import { launch } from "./scripts/launch.mjs";

await launch(["serve", ...process.argv.slice(2)]);
