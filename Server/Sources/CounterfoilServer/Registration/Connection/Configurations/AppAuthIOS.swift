import CounterfoilProtocol
import CounterfoilStore

// Classes: https://openid.github.io/AppAuth-iOS/
extension ConfigurationRecipe {
    static let appAuthIOS = ConfigurationRecipe("appauth-ios", "AppAuth for iOS", file: "SignIn.swift", for: [.native])
    { connection -> ConfigurationText<SwiftCode>? in
        guard let redirectURI = connection.appRedirectURI else { return nil }
        return """
            import AppAuth
            import UIKit

            /// Keep the returned session until the callback is called.
            func signIn(
                from controller: UIViewController, completion: @escaping (OIDAuthState?, Error?) -> Void,
                started: @escaping (OIDExternalUserAgentSession) -> Void
            ) {
                guard let issuer = URL(string: \(connection.issuer.rawValue)),
                    let redirectURL = URL(string: \(redirectURI.rawValue))
                else { return }
                OIDAuthorizationService.discoverConfiguration(forIssuer: issuer) { configuration, error in
                    guard let configuration else { return completion(nil, error) }
                    let request = OIDAuthorizationRequest(
                        configuration: configuration,
                        clientId: \(connection.clientID.rawValue),
                        scopes: [\(connection.scope.tokens.map(\.rawValue))],
                        redirectURL: redirectURL,
                        responseType: OIDResponseTypeCode,
                        additionalParameters: nil)
                    started(OIDAuthState.authState(byPresenting: request, presenting: controller, callback: completion))
                }
            }

            """
    }
}
