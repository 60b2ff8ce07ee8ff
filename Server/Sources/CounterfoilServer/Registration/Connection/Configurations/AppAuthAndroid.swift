import CounterfoilProtocol
import CounterfoilStore

// Classes: https://github.com/openid/AppAuth-Android (README).
extension ConfigurationRecipe {
    static let appAuthAndroid = ConfigurationRecipe(
        "appauth-android", "AppAuth for Android", file: "SignIn.kt", for: [.native]
    ) { connection -> ConfigurationText<KotlinCode>? in
        guard let redirectURI = connection.appRedirectURI else { return nil }
        return ConfigurationText(lines: [
            redirectURI.receiverNote,
            """
            import android.content.Intent
            import android.net.Uri
            import net.openid.appauth.AuthorizationException
            import net.openid.appauth.AuthorizationRequest
            import net.openid.appauth.AuthorizationService
            import net.openid.appauth.AuthorizationServiceConfiguration
            import net.openid.appauth.ResponseTypeValues

            /** Start the intent with an activity result launcher; the result contains the authorization response. */
            fun signIn(service: AuthorizationService, completion: (Intent?, AuthorizationException?) -> Unit) {
                val issuer = Uri.parse(\(connection.issuer.rawValue))
                AuthorizationServiceConfiguration.fetchFromIssuer(issuer) { configuration, error ->
                    if (configuration == null) {
                        completion(null, error)
                        return@fetchFromIssuer
                    }
                    val request = AuthorizationRequest.Builder(
                        configuration,
                        \(connection.clientID.rawValue),
                        ResponseTypeValues.CODE,
                        Uri.parse(\(redirectURI.rawValue)),
                    ).setScope(\(connection.scope.description)).build()
                    completion(service.getAuthorizationRequestIntent(request), null)
                }
            }

            """,
        ])
    }
}

extension RedirectURI {
    /// A comment that says how Android passes the redirect URI to the app.
    fileprivate var receiverNote: ConfigurationText<KotlinCode>? {
        switch kind {
        case .privateUseScheme(let scheme):
            """
            // In build.gradle.kts:
            //   android { defaultConfig { manifestPlaceholders["appAuthRedirectScheme"] = \(scheme) } }
            """
        case .https(let host):
            """
            // In AndroidManifest.xml, net.openid.appauth.RedirectUriReceiverActivity needs an intent filter with
            // android:scheme "https", android:host \(host) and android:path \(route).
            """
        case .loopback: nil
        }
    }
}
