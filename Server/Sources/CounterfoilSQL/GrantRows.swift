import CounterfoilProtocol
import CounterfoilStore
import Foundation

extension SQLConnection {
    func insert(_ grant: Grant) throws {
        try send(
            """
            INSERT INTO grants (
                id, person_number, client_id, scope, resources, id_token_claims, user_info_claims,
                claim_scope, session_id, authenticated_at, methods, context, device_name, user_agent, source,
                is_separate_device, created_at, last_used_at, revoked_at
            ) VALUES (?, (SELECT number FROM people WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            grant.id.rawValue,
            grant.userID.rawValue,
            grant.clientID.rawValue,
            grant.scope.description,
            grant.resources.map(\.rawValue).joined(separator: " "),
            grant.claims.idToken.sorted().joined(separator: " "),
            grant.claims.userInfo.sorted().joined(separator: " "),
            grant.claimScope.description,
            grant.sessionID?.rawValue,
            grant.authenticatedAt.microseconds,
            grant.methods.stored,
            grant.context.rawValue,
            grant.device.name,
            grant.device.userAgent,
            grant.device.source,
            grant.device.isSeparate,
            grant.createdAt.microseconds,
            grant.lastUsedAt.microseconds,
            grant.revokedAt?.microseconds
        )
    }

    func insert(_ code: CodeRecord) throws {
        try send(
            """
            INSERT INTO codes (
                digest, interaction, grant_id, redirect_uri, redirect_uri_was_given, code_challenge, code_challenge_method,
                nonce, issued_at, expires_at, used_at, attempt, failed_redemptions, requested_scope,
                key_thumbprint
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            Data(code.digest.bytes),
            Data(code.interaction.bytes),
            code.grantID.rawValue,
            code.redirectURI?.uri.rawValue,
            code.redirectURI.map { $0.requested != nil },
            // RFC 7636 §4.4: the challenge and its method are stored with the code.
            code.codeChallenge?.rawValue,
            code.codeChallenge.map { _ in CodeChallenge.method },
            // A nonce can contain NUL, which a text value in SQLite must not contain, so the nonce is stored as a blob.
            code.nonce.map { Data($0.exposed.utf8) },
            code.issuedAt.microseconds,
            code.expiresAt.microseconds,
            code.usedAt?.microseconds,
            code.attempt.map { Data($0.bytes) },
            code.failedRedemptions,
            code.requestedScope.description,
            code.keyThumbprint?.rawValue
        )
    }
}

extension Grant {
    /// The join of the grants with their users, which the table `grants` references by number.
    ///
    /// It leaves out the grants of a deleted user or client, which are not deleted yet.
    static let withUser = """
        grants JOIN people ON people.number = grants.person_number
            AND EXISTS (SELECT 1 FROM clients WHERE clients.id = grants.client_id)
        """

    /// The condition that a grant belongs to the user whose identifier is the first parameter of a statement.
    static let isOfFirst = "grants.person_number = (SELECT number FROM people WHERE id = ?1)"

    /// The condition that the grant has a `device_code` that is not redeemed yet.
    static let hasUnusedDeviceCode = """
        EXISTS (
            SELECT 1 FROM codes
            WHERE codes.grant_id = grants.id AND codes.redirect_uri IS NULL AND codes.used_at IS NULL
        )
        """

    /// The columns, qualified with their tables, to be read from ``withUser``.
    static let columns = """
        grants.id, people.id, grants.client_id, grants.scope, grants.resources, grants.id_token_claims,
        grants.user_info_claims, grants.claim_scope, grants.session_id, grants.authenticated_at, grants.methods,
        grants.context, grants.device_name, grants.user_agent, grants.source, grants.is_separate_device,
        grants.created_at, grants.last_used_at, grants.revoked_at
        """

    /// The query for the grants of user ?1, after the grant with the client ?2 and the identifier ?3.
    static let page = """
        SELECT \(columns), grants.access_until, refresh_tokens.digest IS NOT NULL, \(RefreshFamily.columns)
        FROM \(withUser) LEFT JOIN refresh_tokens ON refresh_tokens.grant_number = grants.number
        WHERE \(isOfFirst) AND (grants.client_id, grants.id) > (?2, ?3)
        ORDER BY grants.client_id, grants.id
        """

    init(_ columns: inout Columns) throws {
        columns.record = "grant"
        self.init(
            id: try columns.value(GrantIdentifier.init(_:)),
            userID: try columns.value(UserIdentifier.init(_:)),
            clientID: try columns.value(ClientIdentifier.init(_:)),
            scope: try columns.scope(),
            resources: try columns.resources(),
            // Claim names contain no space (see `RequestedClaims`), so spaces delimit them.
            claims: RequestedClaims(idToken: Set(try columns.list { $0 }), userInfo: Set(try columns.list { $0 })),
            claimScope: try columns.scope(),
            sessionID: try columns.optionalValue(SessionIdentifier.init(_:)),
            authenticatedAt: try columns.date(),
            methods: try columns.word(AuthenticationMethods.init(stored:)),
            context: try columns.word(AuthenticationContext.init(rawValue:)),
            device: GrantDevice(
                name: try columns.optionalText(), userAgent: try columns.text(), source: try columns.text(),
                isSeparate: try columns.flag()),
            createdAt: try columns.date(),
            lastUsedAt: try columns.date(),
            revokedAt: try columns.optionalDate()
        )
    }
}

extension CodeRecord {
    /// The code ?1, with its grant and user, if the attempt ?2 has redeemed it and nothing has ended since.
    static let redeemed = """
        FROM \(Grant.withUser) JOIN codes ON codes.grant_id = grants.id
        WHERE codes.digest = ?1 AND codes.attempt = ?2 AND grants.revoked_at IS NULL AND people.disabled_at IS NULL
        """

    /// The condition that a code can be redeemed, now or after the end of a redemption whose result is unknown.
    static let isRedeemable = "(used_at IS NULL OR attempt IS NOT NULL)"

    /// The column names, each with the name of the table as a prefix, for joins.
    static let columns = """
        codes.digest, codes.interaction, codes.grant_id, codes.redirect_uri, codes.redirect_uri_was_given,
        codes.requested_scope, codes.code_challenge, codes.code_challenge_method, codes.key_thumbprint, codes.nonce,
        codes.issued_at, codes.expires_at, codes.used_at, codes.attempt, codes.failed_redemptions
        """

    init(_ columns: inout Columns) throws {
        columns.record = "code"
        self.init(
            digest: try columns.digest(),
            interaction: try columns.digest(),
            grantID: try columns.value(GrantIdentifier.init(_:)),
            redirectURI: try columns.responseRedirectURI(),
            requestedScope: try columns.scope(),
            codeChallenge: try columns.codeChallenge(),
            keyThumbprint: try columns.optionalForm(KeyThumbprint.init(_:)),
            nonce: try columns.nonce(),
            issuedAt: try columns.date(),
            expiresAt: try columns.date(),
            usedAt: try columns.optionalDate(),
            attempt: try columns.commitAttempt(),
            failedRedemptions: Int(try columns.integer())
        )
    }
}

extension Columns {
    /// Reads the redirect URI of an authorization response, and whether the request contained `redirect_uri`; nil for a
    /// `device_code`.
    fileprivate mutating func responseRedirectURI() throws(StoreFault) -> ResponseRedirectURI? {
        let uri = try optionalForm { try RedirectURI($0) }
        let wasGiven = try optionalInteger()
        guard let uri, let wasGiven else { return nil }
        return wasGiven != 0 ? .requested(uri) : .registered(uri)
    }

    /// Reads a challenge and its method.
    ///
    /// Throws `StoreFault.damaged` if only one of them is stored, and `StoreFault.unsupported` if the method is not
    /// S256.
    fileprivate mutating func codeChallenge() throws(StoreFault) -> CodeChallenge? {
        let challenge = try optionalText()
        let method = try optionalText()
        guard (challenge == nil) == (method == nil) else { throw damage() }
        guard let challenge, let method else { return nil }
        guard method == CodeChallenge.method else { throw .unsupported(unsupported(method)) }
        guard let parsed = CodeChallenge(challenge) else { throw damage() }
        return parsed
    }

    fileprivate mutating func commitAttempt() throws(StoreFault) -> CommitAttempt? {
        guard let bytes = try optionalBytes() else { return nil }
        guard let attempt = CommitAttempt(stored: bytes) else { throw damage() }
        return attempt
    }

    fileprivate mutating func nonce() throws(StoreFault) -> Nonce? {
        guard let bytes = try optionalBytes() else { return nil }
        guard let nonce = String(validating: bytes, as: UTF8.self).flatMap({ Nonce($0) }) else { throw damage() }
        return nonce
    }
}
