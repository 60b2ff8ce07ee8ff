import ArgumentParser
import CounterfoilServer

extension Settings {
    static let requirePushedRequests = Setting(
        "require-pushed-requests", .flag, default: false, to: \.requiresPushedRequests,
        "Refuse authorization requests that were not pushed (PAR, RFC 9126).")
    static let requireProofNonce = Setting(
        "require-dpop-nonce", .flag, default: false, to: \.requiresProofNonce,
        "Refuse DPoP proofs without a nonce of this server (RFC 9449).")
    static let lowercaseTokenType = Setting(
        "lowercase-token-type", .flag, default: false, to: \.lowercasesTokenType,
        "Send token_type as bearer in lower case, for clients that compare it as text.")
    static let administrationAPI = Setting(
        "administration-api", .flag, default: false, to: \.offersAdministrationAPI,
        "Offer the administration API at /api/v1, for approved apps with the tokens of administrators.")
}

/// The options of `serve` for what the requests of every client must have, and for the form of the responses.
struct RequirementOptions: SettingGroup {
    static let title = "Requirements"

    @Flag(Settings.requirePushedRequests) var pushedRequests: Bool
    @Flag(Settings.requireProofNonce) var proofNonce: Bool
    @Flag(Settings.lowercaseTokenType) var lowercaseTokenType: Bool
    @Flag(Settings.administrationAPI) var administrationAPI: Bool

    static let options: [SettingOption<Self>] = [
        .init(Settings.requirePushedRequests, \.pushedRequests), .init(Settings.requireProofNonce, \.proofNonce),
        .init(Settings.lowercaseTokenType, \.lowercaseTokenType),
        .init(Settings.administrationAPI, \.administrationAPI),
    ]
}
