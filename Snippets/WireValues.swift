// Values of protocol parameters. Each type accepts only the values that its standard allows.
import CounterfoilProtocol

// snippet.show
let issuer = try Issuer("https://id.example.com")
let scope = try Scope(parsing: "openid photos.read")
let redirectURI = try RedirectURI("http://127.0.0.1/callback")
// snippet.hide
print(issuer, scope, redirectURI)
