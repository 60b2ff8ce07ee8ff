/// The changes that each misbehaviour makes to a script.
extension Misbehavior {
    func apply(to script: inout ServerScript) {
        let lostReply = Interruption(at: .token, grantType: "refresh_token", times: 1, .closed, moment: .after)
        let here = "resource_metadata=\"{origin}/.well-known/oauth-protected-resource/api\""
        switch self {
        // Refresh tokens.
        case .givesNoRefreshToken: script.refreshTokens.issue = .never
        case .omitsRefreshToken: script.refreshTokens.rotation = .never
        case .rotatesLeniently: script.refreshTokens.rotation = .rotated(.answersAgain)
        case .rotates: script.refreshTokens.rotation = .rotated(.isRefused)
        case .rotatesStrictly: script.refreshTokens.rotation = .rotated(.revokesAll)
        case .rotatesAndDropsTheReply:
            script.refreshTokens.rotation = .rotated(.answersAgain)
            script.interruptions.append(lostReply)
        case .rotatesStrictlyAndDropsTheReply:
            script.refreshTokens.rotation = .rotated(.revokesAll)
            script.interruptions.append(lostReply)
        case .refusesRefresh:
            script.interruptions.append(
                Interruption(at: .token, grantType: "refresh_token", .refusal("invalid_grant")))
        // Token responses.
        case .refusesWithStatus200: script.errors.statusIsAlways200 = true
        case .wrapsInOK:
            script.errors.statusIsAlways200 = true
            script.errors.saysNotOK = true
            script.tokens.saysOK = true
        case .nestsTokens: script.tokens.nesting = "authed_user"
        case .expiresInText: script.tokens.expiresIn = .text
        case .expiresInMilliseconds: script.tokens.expiresIn = .milliseconds
        case .expiresInNegative: script.tokens.expiresIn = .raw("-3600")
        case .expiresInHuge: script.tokens.expiresIn = .raw("1e30")
        case .expiresInAbsent: script.tokens.expiresIn = .absent
        case .lowerCaseBearer: script.tokens.tokenType = "bearer"
        case .macTokens: script.tokens.tokenType = "mac"
        case .commaSeparatedScope: script.tokens.scopeSeparator = ","
        case .formEncodedTokens: script.tokens.encoding = .form
        case .htmlTokens: script.answer(.token, .html())
        case .hugeTokens: script.answer(.token, .spaces(50_000_000))
        case .endlessTokens: script.answer(.token, .endless)
        case .doubledTokens: script.metadata.doubled.insert(.token)
        case .deepTokens: script.metadata.depths[.token] = 10_000
        case .redirectsTokenRequests:
            script.answer(.token, .redirect(to: "https://login.example.com/token", status: 301))
        case .redirectsTokenRequestsForNow: script.answer(.token, .redirect(to: "https://login.example.com/token"))
        case .tooManyRequestsOnce: script.answer(.token, .trouble(429, retryAfter: "1"), times: 1)
        case .unavailableOnce: script.answer(.token, .trouble(503, retryAfter: "1"), times: 1)
        case .unavailableUntilADate:
            script.answer(.token, .trouble(503, retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT"), times: 1)
        case .clockAhead: script.clockOffset = 900
        case .clockBehind: script.clockOffset = -900
        // Metadata.
        case .trailingSlashIssuer: script.issuer += "/"
        case .templateIssuer: script.issuer = "{origin}/{tenantid}/v2.0"
        case .foreignIssuer: script.metadata.replaced.append(WireMember("issuer", "https://login.example.com"))
        case .hidesPKCE: script.metadata.omitted.append("code_challenge_methods_supported")
        case .plainPKCE:
            script.metadata.replaced.append(WireMember("code_challenge_methods_supported", ["plain"]))
        case .noMetadata: script.metadata.forms = []
        case .htmlMetadata: script.answer(.metadata, .html())
        case .doubledMetadata: script.metadata.doubled.insert(.metadata)
        case .deepMetadata: script.metadata.depths[.metadata] = 10_000
        case .scriptAuthorizationEndpoint: script.authorizationEndpoint("javascript:alert(1)")
        case .fileAuthorizationEndpoint: script.authorizationEndpoint("file:///etc/passwd")
        case .insecureAuthorizationEndpoint: script.authorizationEndpoint("http://login.example.com/authorize")
        case .optionAuthorizationEndpoint: script.authorizationEndpoint("--new-window")
        case .insecureTokenEndpoint:
            script.metadata.replaced.append(WireMember("token_endpoint", "http://login.example.com/token"))
        // Authorization responses.
        case .omitsIssuer: script.authorization.issuer = .omitted
        case .wrongIssuer: script.authorization.issuer = .replaced("https://login.example.com")
        case .staleState: script.authorization.state = .replaced("state-of-long-ago")
        case .omitsState: script.authorization.state = .omitted
        case .twoStates: script.authorization.state = .doubled("state-of-long-ago")
        case .twoCodes: script.authorization.outcome = .twoCodes
        case .codeAndError: script.authorization.outcome = .codeAndError("access_denied")
        case .deniesAccess: script.authorization.outcome = .error("access_denied", "the user denied access")
        case .staleError:
            script.authorization.outcome = .error("access_denied", nil)
            script.authorization.state = .replaced("state-of-long-ago")
        case .strandsTheUser: script.authorization.outcome = .page(403)
        case .otherAccountsServer:
            script.authorization.codesBelongToSibling = true
            script.authorization.extras += [
                WireMember("location", "eu"), WireMember("accounts-server", "{sibling}"),
            ]
            script.authorization.trailing = "&"
        case .evilAccountsServer:
            script.authorization.extras += [
                WireMember("location", "eu"), WireMember("accounts-server", "https://accounts.zoho.example.com"),
            ]
        // ID tokens, keys and UserInfo.
        case .omitsIDToken: script.idToken.isIssued = false
        case .idTokenWrongIssuer: script.idToken.replaced.append(WireMember("iss", "https://login.example.com"))
        case .idTokenWrongAudience: script.idToken.replaced.append(WireMember("aud", "somebody-else"))
        case .idTokenTwoAudiences:
            script.idToken.replaced.append(WireMember("aud", ["{client}", "somebody-else"]))
        case .idTokenWrongNonce: script.idToken.replaced.append(WireMember("nonce", "nonce-of-long-ago"))
        case .idTokenNoNonce: script.idToken.omitted.append("nonce")
        case .idTokenExpired: script.idToken.timeOffset = -7200
        case .idTokenNoSubject: script.idToken.omitted.append("sub")
        case .idTokenNoIssueTime: script.idToken.omitted.append("iat")
        case .idTokenNoAudience: script.idToken.omitted.append("aud")
        case .idTokenUnsigned: script.idToken.signature = .none
        case .idTokenHS256: script.idToken.signature = .hs256
        case .idTokenBrokenSignature: script.idToken.signature = .broken
        case .idTokenUnknownKey: script.idToken.signature = .unknownKey
        case .refreshedIDTokenOtherSubject: script.idToken.subjectAfterRefresh = "mallory"
        case .rotatesKeys: script.keys.rotatesBeforeSigning = true
        case .staleKeys: script.keys.staleAnswers = 1
        case .tenThousandKeys: script.keys.decoys = 10_000
        case .userInfoOtherSubject: script.userInfo.replaced.append(WireMember("sub", "mallory"))
        case .userInfoNoSubject: script.userInfo.omitted.append("sub")
        case .signedUserInfo: script.userInfo.isSigned = true
        // The device grant.
        case .authorizationPending: script.device.polls = [.pending, .pending]
        case .slowsDown: script.device.polls = [.slowDown, .slowDown, .slowDown]
        case .slowsDownWith429: script.device.polls = [.slowDownAsTooManyRequests]
        case .otherDataCentre: script.device.polls = [.otherDataCentre("eu")]
        case .verificationURL: script.device.verificationMember = "verification_url"
        case .noInterval: script.device.interval = nil
        // DPoP, pushed requests and registration.
        case .requiresDPoP:
            script.dpop.isRequired = true
            script.dpop.tokenNonce = .changing
            script.dpop.apiNonce = .changing
        case .refusesProofs: script.dpop.refusesEveryProof = true
        case .ignoresProofs:
            script.dpop.isIgnored = true
            script.metadata.replaced.append(WireMember("dpop_signing_alg_values_supported", ["ES256"]))
        case .requiresPushedRequests: script.authorization.requiresPushedRequest = true
        case .noPushedRequests: script.metadata.absent.insert(.pushedAuthorization)
        case .refusesRegistration: script.registration.refusal = "invalid_redirect_uri"
        case .widensRegistration:
            script.registration.replaced += [
                WireMember("redirect_uris", ["http://127.0.0.1/callback", "https://evil.example.com/callback"]),
                WireMember("grant_types", ["authorization_code", "refresh_token", "client_credentials", "password"]),
                WireMember("scope", "openid photos.read photos.write admin"),
            ]
        // The API.
        case .manyChallenges:
            script.api.challenges = [
                "Basic realm=\"a, \\\"b\\\"\", , Negotiate dG9rZW4=, bearer realm=x , error=\"invalid_token\", \(here)",
                "DPoP algs=\"ES256\"",
            ]
        case .brokenChallenge: script.api.challenges = ["Bearer error=\"invalid_token, \(here)", "=,;"]
        case .wantsMoreScope: script.api.requiredScope = "photos.write"
        case .wantsStrongerSignIn:
            script.api.requiredContexts = ["urn:example:gold"]
            script.api.maxAge = 600
        case .nestedErrors: script.errors.isNestedAtAPI = true
        case .redirectsAPI: script.answer(.api, .redirect(to: "https://login.example.com/api"))
        case .losesAuthorization: script.api.losesAuthorization = true
        case .evilResourceMetadata:
            script.api.challenges = ["Bearer resource_metadata=\"http://169.254.169.254/latest/meta-data\""]
        case .foreignResource:
            script.metadata.resourceReplaced.append(WireMember("resource", "https://login.example.com/api"))
        }
    }
}

extension ServerScript {
    /// Replaces the first `times` responses of an endpoint; nil replaces every response.
    fileprivate mutating func answer(_ endpoint: ScriptedEndpoint, _ answer: ScriptedAnswer, times: Int? = nil) {
        interruptions.append(Interruption(at: endpoint, times: times, answer))
    }

    fileprivate mutating func authorizationEndpoint(_ address: WireValue) {
        metadata.replaced.append(WireMember("authorization_endpoint", address))
    }
}
