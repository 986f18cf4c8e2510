import { testChainStakes } from "../testing/chain-stakes-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

testChainStakes(() => new StoreFolder());
