import CounterfoilProtocol
import CounterfoilResource
import CounterfoilTokens
import Foundation

// snippet.show
/// The page of a product that signs its users in for Counterfoil.
struct SignInPage: Sendable {
    let issuer: Issuer
    let address: AbsoluteURI
    let key: SigningKey

    /// The claims of the response.
    struct Response: Encodable {
        let iss, aud, nonce, sub, name: String
        let iat, exp, auth_time: Int
        let amr = ["pwd"]
    }

    /// Verifies the request of the server, with its current keys.
    func verified(_ request: String) async throws -> VerifiedSignInRequest {
        let keys = try await HTTPKeySetSource(issuer: issuer).fetch().keys
        return try SignInRequestVerifier(issuer: issuer, page: address.rawValue).verify(request, keys: keys)
    }

    /// Returns the URL to which the browser goes when a user has signed in.
    func answer(to request: VerifiedSignInRequest, for user: String, since time: Date) throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        let origin = address.rawValue.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//")
        let response = Response(
            iss: origin, aud: issuer.rawValue, nonce: request.requestID, sub: user, name: user.capitalized, iat: now,
            exp: now + 60, auth_time: Int(time.timeIntervalSince1970))
        return request.responseURI + "?response=" + (try key.sign(response, type: .signInResponse))
    }
}
// snippet.hide
