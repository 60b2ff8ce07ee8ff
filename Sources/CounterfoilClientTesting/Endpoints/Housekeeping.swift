@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes

/// Pushed authorization requests, client registration, token revocation and sign-out.
extension MiniatureServer {
    /// Stores a pushed authorization request (RFC 9126 §2).
    func push(_ request: RecordedRequest, to vault: inout VaultContents, at now: Date) -> ScriptedAnswer {
        guard request.method == .post, request.form["request_uri"] == nil else {
            return refusal("invalid_request", to: request)
        }
        guard authenticatedClient(request, in: vault) != nil else {
            return refusal("invalid_client", to: request, status: 401)
        }
        let uri = "urn:ietf:params:oauth:request_uri:\(Base64URL.encode(RandomBytes().bytes(16)))"
        vault.pushedRequests[uri] = request.form
        return json(
            [WireMember("request_uri", .text(uri)), WireMember("expires_in", 60)], at: .pushedAuthorization, status: 201
        )
    }

    /// Registers a client (RFC 7591 §3).
    func register(_ request: RecordedRequest, in vault: inout VaultContents) -> ScriptedAnswer {
        let rules = script.registration
        if let refusal = rules.refusal { return .refusal(refusal, status: rules.refusalStatus) }
        guard request.method == .post, case .object(let asked)? = request.json else {
            return .refusal("invalid_client_metadata")
        }
        if let token = rules.initialAccessToken, request.authorization != "Bearer \(token)" {
            return .refusal("invalid_token", status: 401)
        }
        if case .text(let scope)? = request.json?["scope"],
            scope.split(separator: " ").contains(where: { rules.refusedScopes.contains(String($0)) })
        {
            return .refusal(
                "insufficient_scope", "Not permitted to use specified clientScope", status: 403)
        }
        let clientID = "registered-\(Base64URL.encode(RandomBytes().bytes(12)))"
        var members = asked
        members.append("client_id", .text(clientID))
        members.append("client_id_issued_at", .number(Int(request.time.timeIntervalSince1970)))
        if let method = rules.authenticationMethod {
            members = members.changed(
                replacing: [WireMember("token_endpoint_auth_method", .text(method))], omitting: [])
        }
        var secret = ""
        if case .text(let method)? = WireValue.object(members)["token_endpoint_auth_method"],
            method.hasPrefix("client_secret")
        {
            secret = vault.secret()
            let end = rules.secretLifetime.map { Int(request.time.timeIntervalSince1970) + $0 } ?? 0
            members += [
                WireMember("client_secret", .text(secret)), WireMember("client_secret_expires_at", .number(end)),
            ]
        }
        vault.registrations[clientID] = secret
        if rules.isManageable {
            let token = vault.secret("rat-")
            vault.registrationTokens[clientID] = token
            members += [
                WireMember("registration_access_token", .text(token)),
                WireMember(
                    "registration_client_uri",
                    .text("\(url(of: .registrationManagement))?client_id=\(FormParameters.encoded(clientID))")),
            ]
        }
        return json(
            members.changed(replacing: rules.replaced, omitting: rules.omitted), at: .registration, status: 201)
    }

    /// Deletes a registration (RFC 7592 §2.3).
    func manage(_ request: RecordedRequest, in vault: inout VaultContents) -> ScriptedAnswer {
        guard let clientID = request.query["client_id"], let token = vault.registrationTokens[clientID],
            request.authorization == "Bearer \(token)"
        else { return .refusal("invalid_token", status: 401) }
        guard request.method == .delete else { return ScriptedAnswer(status: 405) }
        vault.registrations[clientID] = nil
        vault.registrationTokens[clientID] = nil
        return ScriptedAnswer(status: 204)
    }

    /// Revokes a token (RFC 7009 §2).
    func revoke(_ request: RecordedRequest, in vault: inout VaultContents) -> ScriptedAnswer {
        let token = request.form["token"] ?? (script.revocation.readsQuery ? request.query["token"] : nil)
        guard let token else { return refusal("invalid_request", to: request) }
        var wasKnown = false
        if var issued = vault.accessTokens[token], !issued.isEnded {
            issued.isEnded = true
            vault.accessTokens[token] = issued
            wasKnown = true
        }
        if let issued = vault.refreshTokens[token], !issued.isEnded {
            // RFC 7009 §2.1: revoking a refresh token also revokes the access tokens of the same grant.
            vault.end(issued.grant.authorization)
            wasKnown = true
        }
        if !wasKnown, script.revocation.refusesUnknownTokens { return refusal("invalid_token", to: request) }
        return script.revocation.answer.isEmpty ? ScriptedAnswer() : .json(script.revocation.answer)
    }

    /// Answers a logout request (OpenID Connect RP-Initiated Logout §2 and §3).
    func endSession(_ request: RecordedRequest) -> ScriptedAnswer {
        let parameters = RecordedParameters(request.query.pairs + request.form.pairs)
        guard let address = parameters["post_logout_redirect_uri"] else { return .html("You are signed out") }
        guard let state = parameters["state"] else { return .redirect(to: address) }
        let query = FormParameters(["state": state]).encoded
        return .redirect(to: address + (address.contains("?") ? "&" : "?") + query)
    }
}
