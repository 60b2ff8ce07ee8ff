/// The virtual authenticator of a browser (WebAuthn §11).
extension Browser {
    /// Runs `body` with an authenticator that keeps passkeys.
    ///
    /// - Parameters:
    ///   - isWilling: Whether the user unlocks it when a page asks; false is a user who fails to.
    ///   - isSecurityKey: Whether it is a key of FIDO U2F, which keeps no passkeys and verifies no user.
    ///   - body: The test, with the identifier of the authenticator.
    func withAuthenticator<Result>(
        isWilling: Bool = true, isSecurityKey: Bool = false, _ body: (_ authenticator: String) async throws -> Result
    ) async throws -> Result {
        _ = try await developerTools("WebAuthn.enable", ["enableUI": false])
        let options: JSONValue =
            isSecurityKey
            ? [
                "protocol": "u2f", "transport": "usb", "hasResidentKey": false, "hasUserVerification": false,
                "automaticPresenceSimulation": true,
            ]
            : [
                "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
                "isUserVerified": .bool(isWilling), "automaticPresenceSimulation": true,
            ]
        let added = try await developerTools("WebAuthn.addVirtualAuthenticator", ["options": options])
        let authenticator = added["authenticatorId"]?.string ?? ""
        do {
            let result = try await body(authenticator)
            _ = try await developerTools("WebAuthn.disable")
            return result
        } catch {
            _ = try? await developerTools("WebAuthn.disable")
            throw error
        }
    }

    /// Runs `body` with an authenticator that keeps passkeys, and whose user unlocks it.
    func withAuthenticator<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await withAuthenticator { _ in try await body() }
    }

    /// Decides whether the user of an authenticator touches it when a page asks.
    func touch(_ authenticator: String, _ touches: Bool) async throws {
        _ = try await developerTools(
            "WebAuthn.setAutomaticPresenceSimulation",
            ["authenticatorId": .string(authenticator), "enabled": .bool(touches)])
    }

    /// The number of passkeys in an authenticator.
    func passkeys(in authenticator: String) async throws -> Int {
        let answer = try await developerTools("WebAuthn.getCredentials", ["authenticatorId": .string(authenticator)])
        return answer["credentials"]?.array?.count ?? 0
    }
}
