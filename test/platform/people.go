package platform

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// SignIn makes a user of the stack's user pool, who goes with the test and is in those groups, and
// signs them in as an app does. It returns the user's id and an access token.
func (p *Target) SignIn(t testing.TB, email string, groups ...string) (id, token string) {
	t.Helper()
	pool, client, password := p.Outputs["UserPoolId"], p.Outputs["UserPoolClientId"], "aA1!"+rand.Text()
	made := must.Get(p.users.AdminCreateUser(t.Context(), &cognitoidentityprovider.AdminCreateUserInput{
		UserPoolId: &pool, Username: &email, MessageAction: types.MessageActionTypeSuppress,
		UserAttributes: []types.AttributeType{
			{Name: aws.String("email"), Value: &email}, {Name: aws.String("email_verified"), Value: aws.String("true")},
		},
	}))(t)
	t.Cleanup(func() {
		must.Get(p.users.AdminDeleteUser(context.Background(),
			&cognitoidentityprovider.AdminDeleteUserInput{UserPoolId: &pool, Username: &email}))(t)
	})
	must.Get(p.users.AdminSetUserPassword(t.Context(), &cognitoidentityprovider.AdminSetUserPasswordInput{
		UserPoolId: &pool, Username: &email, Password: &password, Permanent: true,
	}))(t)
	for _, group := range groups {
		must.Get(p.users.AdminAddUserToGroup(t.Context(), &cognitoidentityprovider.AdminAddUserToGroupInput{
			UserPoolId: &pool, Username: &email, GroupName: &group}))(t)
	}
	token = signIn(t, p.users, pool, client, email, password)
	for _, attribute := range made.User.Attributes {
		if aws.ToString(attribute.Name) == "sub" {
			return aws.ToString(attribute.Value), token
		}
	}
	t.Fatalf("the new user of %s has no sub", pool)
	return "", ""
}

// signIn signs a user in by the Secure Remote Password protocol, the one way that the
// pool's client allows.
func signIn(t testing.TB, users *cognitoidentityprovider.Client, pool, client, name, password string) string {
	t.Helper()
	secret := must.Get(rand.Int(rand.Reader, srpModulus))(t)
	begun := must.Get(users.InitiateAuth(t.Context(), &cognitoidentityprovider.InitiateAuthInput{
		AuthFlow: types.AuthFlowTypeUserSrpAuth, ClientId: &client,
		AuthParameters: map[string]string{"USERNAME": name, "SRP_A": srpPublic(secret).Text(16)},
	}))(t)
	challenge := begun.ChallengeParameters
	_, poolName, _ := strings.Cut(pool, "_")
	key := must.Get(srpKey(secret, challenge["SRP_B"], challenge["SALT"],
		poolName+challenge["USER_ID_FOR_SRP"]+":"+password))(t)
	block := must.Get(base64.StdEncoding.DecodeString(challenge["SECRET_BLOCK"]))(t)
	now := time.Now().UTC().Format("Mon Jan 2 15:04:05 UTC 2006")
	proof := hmac.New(sha256.New, key)
	fmt.Fprint(proof, poolName, challenge["USER_ID_FOR_SRP"], string(block), now)
	ended := must.Get(users.RespondToAuthChallenge(t.Context(), &cognitoidentityprovider.RespondToAuthChallengeInput{
		ChallengeName: types.ChallengeNameTypePasswordVerifier, ClientId: &client,
		ChallengeResponses: map[string]string{
			"USERNAME": challenge["USERNAME"], "TIMESTAMP": now,
			"PASSWORD_CLAIM_SECRET_BLOCK": challenge["SECRET_BLOCK"],
			"PASSWORD_CLAIM_SIGNATURE":    base64.StdEncoding.EncodeToString(proof.Sum(nil)),
		},
	}))(t)
	if ended.AuthenticationResult == nil {
		t.Fatalf("the pool wants the challenge %s besides", ended.ChallengeName)
	}
	return aws.ToString(ended.AuthenticationResult.AccessToken)
}

// Cognito's variant of the protocol of RFC 5054: the group of 3072 bits of RFC 5054,
// appendix A, generator 2, SHA-256, numbers with a leading zero byte where they would
// else be negative, and a key of 16 bytes by HKDF. Its names are used below.
var (
	srpModulus, _ = new(big.Int).SetString(strings.Join(strings.Fields(`
		FFFFFFFF FFFFFFFF C90FDAA2 2168C234 C4C6628B 80DC1CD1 29024E08 8A67CC74
		020BBEA6 3B139B22 514A0879 8E3404DD EF9519B3 CD3A431B 302B0A6D F25F1437
		4FE1356D 6D51C245 E485B576 625E7EC6 F44C42E9 A637ED6B 0BFF5CB6 F406B7ED
		EE386BFB 5A899FA5 AE9F2411 7C4B1FE6 49286651 ECE45B3D C2007CB8 A163BF05
		98DA4836 1C55D39A 69163FA8 FD24CF5F 83655D23 DCA3AD96 1C62F356 208552BB
		9ED52907 7096966D 670C354E 4ABC9804 F1746C08 CA18217C 32905E46 2E36CE3B
		E39E772C 180E8603 9B2783A2 EC07A28F B5C55DF0 6F4C52C9 DE2BCBF6 95581718
		3995497C EA956AE5 15D22618 98FA0510 15728E5A 8AAAC42D AD33170D 04507A33
		A85521AB DF1CBA64 ECFB8504 58DBEF0A 8AEA7157 5D060C7D B3970F85 A6E1E4C7
		ABF5AE8C DB0933D7 1E8C94E0 4A25619D CEE3D226 1AD2EE6B F12FFA06 D98A0864
		D8760273 3EC86A64 521F2B18 177B200C BBE11757 7A615D6C 770988C0 BAD946E2
		08E24FA0 74E5AB31 43DB5BFC E0FD108E 4B82D120 A93AD2CA FFFFFFFF FFFFFFFF`), ""), 16)
	srpGenerator = big.NewInt(2)
)

// srpPublic is A of a, and B of b but for the verifier.
func srpPublic(secret *big.Int) *big.Int { return new(big.Int).Exp(srpGenerator, secret, srpModulus) }

// srpKey is the key that proves the knowledge of the password. publicB and salt are
// hexadecimal numbers, identity is the pool's name, the user's and the password.
func srpKey(a *big.Int, publicB, salt, identity string) ([]byte, error) {
	B, ok := new(big.Int).SetString(publicB, 16)
	s, alsoOK := new(big.Int).SetString(salt, 16)
	if !ok || !alsoOK || new(big.Int).Mod(B, srpModulus).Sign() == 0 {
		return nil, errors.New("the challenge has not the form of the protocol")
	}
	inner := sha256.Sum256([]byte(identity))
	k, u := srpHash(srpBytes(srpModulus), srpBytes(srpGenerator)), srpHash(srpBytes(srpPublic(a)), srpBytes(B))
	x := srpHash(srpBytes(s), inner[:])
	base := new(big.Int).Sub(B, new(big.Int).Mul(k, srpPublic(x)))
	base.Mod(base, srpModulus)
	S := base.Exp(base, new(big.Int).Add(a, new(big.Int).Mul(u, x)), srpModulus)
	return srpDerive(S, u)
}

func srpDerive(S, u *big.Int) ([]byte, error) {
	return hkdf.Key(sha256.New, srpBytes(S), srpBytes(u), "Caldera Derived Key", 16)
}

func srpHash(parts ...[]byte) *big.Int {
	digest := sha256.New()
	for _, part := range parts {
		digest.Write(part)
	}
	return new(big.Int).SetBytes(digest.Sum(nil))
}

func srpBytes(n *big.Int) []byte { return n.FillBytes(make([]byte, n.BitLen()/8+1)) }
