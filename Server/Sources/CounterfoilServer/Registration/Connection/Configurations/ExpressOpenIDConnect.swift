import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens

// Keys: https://auth0.github.io/express-openid-connect/interfaces/ConfigParams.html
extension ConfigurationRecipe {
    static let expressOpenIDConnect = ConfigurationRecipe(
        "express-openid-connect", "express-openid-connect (Node)", file: "app.js", for: [.web]
    ) { connection -> ConfigurationText<JavaScript>? in
        guard connection.keys == nil, connection.usesOpenID,
            let redirectURI = connection.redirectURI(preferring: { $0.route == "/callback" })
        else { return nil }
        return """
            const express = require("express");
            const { auth } = require("express-openid-connect");

            const app = express();
            app.use(auth({
              issuerBaseURL: \(connection.issuer.rawValue),
              baseURL: \(redirectURI.base),
              clientID: \(connection.clientID.rawValue),
              clientSecret: process.env.CLIENT_SECRET,
              clientAuthMethod: "client_secret_basic",
              secret: process.env.SESSION_SECRET,
              idTokenSigningAlg: \(connection.idTokenAlgorithm.rawValue),
              authorizationParams: {
                response_type: "code",
                scope: \(connection.scope.description),
              },
              routes: { callback: \(redirectURI.route) },
            }));

            app.get("/", async (request, response) => response.json(await request.oidc.fetchUserInfo()));
            app.listen(\(redirectURI.uri.port ?? 3000));

            """
    }
}
