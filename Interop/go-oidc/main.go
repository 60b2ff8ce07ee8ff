// A relying party on golang.org/x/oauth2 and go-oidc, as their documentation shows it: discovery, code flow with PKCE
// in the system browser, ID token, an API that refreshes by itself, UserInfo, and what has to be refused.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	oidc "github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: go-oidc ISSUER CLIENT_ID API")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	if err := run(ctx, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, issuer, clientID, api string) error {
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return fmt.Errorf("discovery: %w", err)
	}
	app := &application{
		provider: provider,
		verifier: provider.Verifier(&oidc.Config{ClientID: clientID, SupportedSigningAlgs: []string{"ES256"}}),
		config: oauth2.Config{
			ClientID: clientID,
			Endpoint: provider.Endpoint(),
			Scopes:   []string{oidc.ScopeOpenID, oidc.ScopeOfflineAccess, "profile", "photos.read"},
		},
	}
	app.config.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	if err := app.signIn(ctx, api); err != nil {
		return err
	}
	return app.refuseWhatIsWrong(ctx)
}

type application struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
	config   oauth2.Config
}

// An answer is a code with what it has to be redeemed with.
type answer struct {
	code, nonce string
	proof       oauth2.AuthCodeOption
}

// signIn takes tokens, reads the ID token, and calls the API with a token that is over, so that the library refreshes.
func (app *application) signIn(ctx context.Context, api string) error {
	got, err := app.authorize(ctx)
	if err != nil {
		return err
	}
	token, err := app.config.Exchange(ctx, got.code, got.proof)
	if err != nil {
		return fmt.Errorf("redeeming the code: %w", err)
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := app.verifier.Verify(ctx, raw)
	if err != nil {
		return fmt.Errorf("the ID token: %w", err)
	}
	if idToken.Nonce != got.nonce {
		return errors.New("the nonce is another one")
	}
	if err := idToken.VerifyAccessToken(token.AccessToken); err != nil {
		return fmt.Errorf("at_hash: %w", err)
	}

	over := *token
	over.Expiry = time.Now().Add(-time.Minute)
	source := app.config.TokenSource(ctx, &over)
	response, err := oauth2.NewClient(ctx, source).Get(api + "/photos")
	if err != nil {
		return fmt.Errorf("the API: %w", err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusOK {
		return fmt.Errorf("the API answered %d: %s", response.StatusCode, body)
	}
	refreshed, err := source.Token()
	if err != nil {
		return err
	}
	if refreshed.AccessToken == token.AccessToken || refreshed.RefreshToken == token.RefreshToken {
		return errors.New("the refresh gave the same tokens")
	}
	person, err := app.provider.UserInfo(ctx, source)
	if err != nil {
		return fmt.Errorf("UserInfo: %w", err)
	}
	if person.Subject != idToken.Subject {
		return errors.New("UserInfo is about another person")
	}
	return nil
}

// refuseWhatIsWrong tries a verifier of somebody else and a code a second time, whose tokens are then over.
func (app *application) refuseWhatIsWrong(ctx context.Context) error {
	got, err := app.authorize(ctx)
	if err != nil {
		return err
	}
	wrong := oauth2.SetAuthURLParam("code_verifier", unguessable())
	if _, err := app.config.Exchange(ctx, got.code, wrong); !isRefused(err) {
		return fmt.Errorf("a wrong verifier: %v", err)
	}

	if got, err = app.authorize(ctx); err != nil {
		return err
	}
	token, err := app.config.Exchange(ctx, got.code, got.proof)
	if err != nil {
		return err
	}
	if _, err := app.config.Exchange(ctx, got.code, got.proof); !isRefused(err) {
		return fmt.Errorf("a code that comes twice: %v", err)
	}
	token.Expiry = time.Now().Add(-time.Minute)
	if _, err := app.config.TokenSource(ctx, token).Token(); !isRefused(err) {
		return fmt.Errorf("a refresh token of such a code: %v", err)
	}
	return nil
}

// authorize sends the person to the browser and waits at a free port for the answer.
func (app *application) authorize(ctx context.Context) (answer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return answer{}, err
	}
	defer listener.Close()
	app.config.RedirectURL = fmt.Sprintf("http://%s/back", listener.Addr())

	state, nonce, verifier := unguessable(), unguessable(), unguessable()
	hash := sha256.Sum256([]byte(verifier))
	address := app.config.AuthCodeURL(state, oidc.Nonce(nonce),
		oauth2.SetAuthURLParam("prompt", "consent"),
		oauth2.SetAuthURLParam("code_challenge", base64.RawURLEncoding.EncodeToString(hash[:])),
		oauth2.SetAuthURLParam("code_challenge_method", "S256"))

	queries := make(chan map[string][]string, 1)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case queries <- r.URL.Query():
		default:
		}
	}))
	if err := exec.CommandContext(ctx, os.Getenv("BROWSER"), address).Run(); err != nil {
		return answer{}, fmt.Errorf("the browser: %w", err)
	}
	select {
	case query := <-queries:
		first := func(name string) string { return strings.Join(query[name], " ") }
		if first("state") != state || first("code") == "" {
			return answer{}, fmt.Errorf("the answer has state %q and error %q", first("state"), first("error"))
		}
		return answer{first("code"), nonce, oauth2.SetAuthURLParam("code_verifier", verifier)}, nil
	case <-ctx.Done():
		return answer{}, errors.New("nobody came back")
	}
}

// isRefused says whether the server has answered invalid_grant.
func isRefused(err error) bool {
	var refusal *oauth2.RetrieveError
	return errors.As(err, &refusal) && strings.Contains(string(refusal.Body), `"invalid_grant"`)
}

func unguessable() string {
	bytes := make([]byte, 32)
	if _, err := rand.Read(bytes); err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(bytes)
}
