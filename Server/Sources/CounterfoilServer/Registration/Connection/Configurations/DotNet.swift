import CounterfoilProtocol
import CounterfoilStore

// Classes: https://docs.duendesoftware.com/identitymodel-oidcclient (version 7).
extension ConfigurationRecipe {
    static let dotNet = ConfigurationRecipe(
        "dotnet", "Duende.IdentityModel.OidcClient (.NET)", file: "Program.cs", for: [.native], namesAPIs: true
    ) { connection -> ConfigurationText<CSharpCode>? in
        guard connection.usesOpenID, let receiver = connection.loopbackRedirectURI?.loopbackReceiver else { return nil }
        let loopback: ConfigurationText<CSharpCode> = receiver.isIPv6 ? "IPAddress.IPv6Loopback" : "IPAddress.Loopback"
        let resources = connection.requestedResources.map { resource -> ConfigurationText<CSharpCode> in
            "        { \"resource\", \(resource) },\n"
        }
        let request: ConfigurationText<CSharpCode> =
            resources.isEmpty
            ? "new LoginRequest()"
            : """
            new LoginRequest
            {
                FrontChannelExtraParameters = new Parameters
                {
            \(ConfigurationText(stringLiteral: resources.map(\.text).joined()))    },
            }
            """
        return """
            using System.Diagnostics;
            using System.Net;
            using System.Net.Sockets;
            using Duende.IdentityModel.Client;
            using Duende.IdentityModel.OidcClient;
            using Duende.IdentityModel.OidcClient.Browser;

            var probe = new TcpListener(\(loopback), \(receiver.port));
            probe.Start();
            var port = ((IPEndPoint)probe.LocalEndpoint).Port;
            probe.Stop();

            var client = new OidcClient(new OidcClientOptions
            {
                Authority = \(connection.issuer.rawValue),
                ClientId = \(connection.clientID.rawValue),
                Scope = \(connection.scope.description),
                RedirectUri = \(receiver.origin) + ":" + port + \(receiver.target),
                Browser = new SystemBrowser(\(receiver.origin) + ":" + port + "/"),
            });
            var result = await client.LoginAsync(\(request));
            Console.WriteLine(result.IsError ? result.Error : "Signed in as " + result.User.FindFirst("sub")?.Value);

            /// <summary>Opens the browser of the system, and receives the authorization response.</summary>
            class SystemBrowser(string origin) : IBrowser
            {
                public async Task<BrowserResult> InvokeAsync(BrowserOptions options, CancellationToken token = default)
                {
                    using var listener = new HttpListener();
                    listener.Prefixes.Add(origin);
                    listener.Start();
                    Process.Start(new ProcessStartInfo(options.StartUrl) { UseShellExecute = true });
                    while (true)
                    {
                        var context = await listener.GetContextAsync().WaitAsync(token);
                        var isResponse = context.Request.Url?.AbsolutePath == new Uri(options.EndUrl).AbsolutePath;
                        context.Response.StatusCode = isResponse ? 200 : 404;
                        context.Response.Close("You can close this tab."u8.ToArray(), false);
                        if (isResponse)
                            return new BrowserResult
                            {
                                ResultType = BrowserResultType.Success, Response = context.Request.RawUrl,
                            };
                    }
                }
            }

            """
    }
}
