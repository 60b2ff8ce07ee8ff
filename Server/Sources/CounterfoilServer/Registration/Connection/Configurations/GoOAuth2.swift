import CounterfoilProtocol
import CounterfoilStore

// Functions: https://pkg.go.dev/golang.org/x/oauth2
extension ConfigurationRecipe {
    static let goOAuth2 = ConfigurationRecipe(
        "go-oauth2", "golang.org/x/oauth2 (Go)", file: "main.go", for: [.native], namesAPIs: true
    ) { connection -> ConfigurationText<GoCode>? in
        guard let receiver = connection.loopbackRedirectURI?.loopbackReceiver,
            let authorization = connection.url(of: .authorization), let token = connection.url(of: .token)
        else { return nil }
        let resources = connection.requestedResources.map { resource -> ConfigurationText<GoCode> in
            "\n\taddress += \"&resource=\" + url.QueryEscape(\(resource))"
        }
        let network: ConfigurationText<GoCode> = receiver.isIPv6 ? "\"tcp6\"" : "\"tcp4\""
        let listenAddress = (receiver.isIPv6 ? "[\(receiver.address)]" : receiver.address) + ":\(receiver.port)"
        let urlImport: ConfigurationText<GoCode> = resources.isEmpty ? "" : "\n\t\"net/url\""
        return """
            package main

            import (
            \t"context"
            \t"crypto/rand"
            \t"crypto/sha256"
            \t"encoding/base64"
            \t"fmt"
            \t"log"
            \t"net"
            \t"net/http"\(urlImport)

            \t"golang.org/x/oauth2"
            )

            // random returns 256 random bits in base64url.
            func random() string {
            \tvalue := make([]byte, 32)
            \tif _, err := rand.Read(value); err != nil {
            \t\tlog.Fatal(err)
            \t}
            \treturn base64.RawURLEncoding.EncodeToString(value)
            }

            func main() {
            \tlistener, err := net.Listen(\(network), \(listenAddress))
            \tif err != nil {
            \t\tlog.Fatal(err)
            \t}
            \tport := listener.Addr().(*net.TCPAddr).Port
            \tconfig := oauth2.Config{
            \t\tClientID: \(connection.clientID.rawValue),
            \t\tEndpoint: oauth2.Endpoint{
            \t\t\tAuthURL:   \(authorization),
            \t\t\tTokenURL:  \(token),
            \t\t\tAuthStyle: oauth2.AuthStyleInParams,
            \t\t},
            \t\tRedirectURL: \(receiver.origin) + fmt.Sprintf(":%d", port) + \(receiver.target),
            \t\tScopes:      []string{\(connection.scope.tokens.map(\.rawValue))},
            \t}
            \tstate, verifier := random(), random()
            \tdigest := sha256.Sum256([]byte(verifier))
            \taddress := config.AuthCodeURL(state,
            \t\toauth2.SetAuthURLParam("code_challenge", base64.RawURLEncoding.EncodeToString(digest[:])),
            \t\toauth2.SetAuthURLParam("code_challenge_method", "S256"))\
            \(ConfigurationText(stringLiteral: resources.map(\.text).joined()))
            \tfmt.Println("Sign in at", address)

            \tcodes := make(chan string)
            \tgo http.Serve(listener, http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
            \t\tquery := request.URL.Query()
            \t\tif query.Get("state") != state || query.Get("iss") != \(connection.issuer.rawValue) {
            \t\t\thttp.NotFound(response, request)
            \t\t\treturn
            \t\t}
            \t\tfmt.Fprintln(response, "You can close this tab.")
            \t\tcodes <- query.Get("code")
            \t}))
            \tcode := <-codes
            \ttoken, err := config.Exchange(context.Background(), code, oauth2.SetAuthURLParam("code_verifier", verifier))
            \tif err != nil {
            \t\tlog.Fatal(err)
            \t}
            \tfmt.Println("Signed in; the access token expires at", token.Expiry)
            }

            """
    }
}
