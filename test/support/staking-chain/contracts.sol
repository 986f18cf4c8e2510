// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// What wallets have staked; anyone may stake for anyone, and move any stake.
contract StakingToken {
    mapping(address => uint256) public balanceOf;

    function setStake(address wallet, uint256 amount) external {
        balanceOf[wallet] = amount;
    }

    function move(address from, address to) external {
        balanceOf[to] += balanceOf[from];
        balanceOf[from] = 0;
    }

    /// Two words, and reverts for who has nothing.
    function stakeOf(address wallet) external view returns (uint256 amount, uint256 since) {
        require(balanceOf[wallet] > 0, "nothing staked");
        return (balanceOf[wallet], 1);
    }

    /// Costs so much gas for some wallets that many of them do not fit in one call.
    function costlyBalanceOf(address wallet) external view returns (uint256) {
        uint256 burnt = uint256(uint160(wallet)) % 2 == 0 ? 20000 : 0;
        bytes32 hash;
        for (uint256 count = 0; count < burnt; count++) hash = keccak256(abi.encode(hash));
        return hash == bytes32(uint256(1)) ? 0 : balanceOf[wallet];
    }
}

/// A wallet without a key of its own: its owner signs (ERC-1271).
contract SmartWallet {
    address private immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        require(signature.length == 65, "length");
        address signer = ecrecover(hash, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
        return signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// Makes smart wallets at addresses that are known before (ERC-6492).
contract WalletFactory {
    function make(address owner) external returns (address) {
        return address(new SmartWallet{salt: 0}(owner));
    }

    function addressOf(address owner) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(SmartWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code)))));
    }
}
