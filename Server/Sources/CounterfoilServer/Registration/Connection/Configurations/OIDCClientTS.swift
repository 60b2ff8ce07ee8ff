import CounterfoilProtocol
import CounterfoilStore

// Settings: https://authts.github.io/oidc-client-ts/interfaces/UserManagerSettings.html
extension ConfigurationRecipe {
    static let oidcClientTS = ConfigurationRecipe(
        "oidc-client-ts", "oidc-client-ts", file: "auth.js", for: [.singlePage], namesAPIs: true
    ) { connection -> ConfigurationText<JavaScript>? in
        guard connection.usesOpenID, let redirectURI = connection.redirectURI(preferring: { _ in true }) else {
            return nil
        }
        let afterSignOut: ConfigurationText<JavaScript>? =
            connection.postLogoutRedirectURIs.first.map { "  post_logout_redirect_uri: \($0.rawValue)," }
        return ConfigurationText(lines: [
            """
            import { UserManager } from "oidc-client-ts";

            export const userManager = new UserManager({
              authority: \(connection.issuer.rawValue),
              client_id: \(connection.clientID.rawValue),
              redirect_uri: \(redirectURI.rawValue),
            """,
            afterSignOut,
            """
              response_type: "code",
              scope: \(connection.scope.description),
            """,
            connection.requestedResources.isEmpty ? nil : "  resource: [\(connection.requestedResources)],",
            connection.putsUserClaimsInIDToken ? nil : "  loadUserInfo: true,",
            """
            });

            // At the redirect URI, this ends the sign-in; elsewhere, it returns the signed-in user or null.
            export async function user() {
              const parameters = new URLSearchParams(location.search);
              if (!parameters.has("state")) return userManager.getUser();
              const user = await userManager.signinRedirectCallback();
              history.replaceState(null, "", location.pathname);
              return user;
            }

            export const signIn = () => userManager.signinRedirect();
            export const signOut = () => userManager.signoutRedirect();

            """,
        ])
    }
}
