#!/usr/bin/env node
/** The `turnpike` command (`npx --no turnpike ...` in a checkout). */
import { launch } from "../scripts/launch.mjs";

await launch(process.argv.slice(2));
