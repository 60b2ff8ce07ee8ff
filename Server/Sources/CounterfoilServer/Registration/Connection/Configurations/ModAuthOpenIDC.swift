import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens

// Directives: https://github.com/OpenIDC/mod_auth_openidc/blob/master/auth_openidc.conf
extension ConfigurationRecipe {
    static let modAuthOpenIDC = ConfigurationRecipe(
        "mod-auth-openidc", "mod_auth_openidc (Apache httpd)", file: "openidc.conf", for: [.web]
    ) { connection -> ConfigurationText<Apache>? in
        guard connection.keys == nil, connection.usesOpenID, ![.ed25519, .edDSA].contains(connection.idTokenAlgorithm),
            let redirectURI = connection.redirectURI(preferring: { _ in true })
        else { return nil }
        let text: ConfigurationText<Apache> = """
            # CLIENT_SECRET and CRYPTO_PASSPHRASE are in the environment of Apache httpd, for example in envvars.
            OIDCProviderMetadataURL \(connection.openIDConfiguration)
            OIDCClientID \(connection.clientID.rawValue)
            OIDCClientSecret "${CLIENT_SECRET}"
            OIDCProviderTokenEndpointAuth client_secret_basic
            OIDCRedirectURI \(redirectURI.rawValue)
            OIDCScope \(connection.scope.description)
            OIDCPKCEMethod S256
            OIDCIDTokenSignedResponseAlg \(connection.idTokenAlgorithm.rawValue)
            OIDCCryptoPassphrase "${CRYPTO_PASSPHRASE}"

            # The path of the redirect URI must be inside this location.
            <Location "/">
                AuthType openid-connect
                Require valid-user
            </Location>

            """
        return text.text.contains("${COUNTERFOIL_DOLLAR}") ? ConfigurationText(lines: [Apache.dollar, text]) : text
    }
}
